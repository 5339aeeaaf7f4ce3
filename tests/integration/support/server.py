"""A `tidewatt server` process with a data folder of its own."""
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import threading
import time

from .http_client import Client

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
# Sanitizers make everything slower; TIDEWATT_SLOW=4 gives four times as long.
SLOW = float(os.environ.get("TIDEWATT_SLOW", "1"))


def binary(name):
    folder = os.environ.get("TIDEWATT_BIN") or os.path.join(ROOT, "build", "release", "bin")
    path = os.path.join(folder, name)
    if not os.access(path, os.X_OK):
        raise RuntimeError(f"{path}: no such program; build preset release, or set TIDEWATT_BIN")
    return path


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def clean_environment(extra=None):
    """No setting of the person who runs the tests gets in."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TIDEWATT_", "ENERGY_"))}
    return {**kept, **(extra or {})}


class Server:
    def __init__(self, data, environment=None, flags=(), port=None):
        self.data = str(data)
        self.environment, self.flags = environment, list(flags)
        self.port = port or free_port()
        self.process = None
        self.tokens = {}
        self.log = self.data + ".log"
        self.link = None

    def command(self, port):
        return [binary("tidewatt"), "server", "--data", self.data, "--listen", f"127.0.0.1:{port}", *self.flags], \
            clean_environment(self.environment)

    def start(self):
        command, environment = self.command(self.port)
        self.link, self.link_seen = None, threading.Event()
        with open(self.log, "ab") as errors:
            # Without restore_signals the program inherits Python's ignored SIGXFSZ: a full disk is an error, not a death.
            self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True, restore_signals=False)
        threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True).start()
        deadline = time.monotonic() + 30 * SLOW
        while True:
            try:
                client = Client(self.port, timeout=5)
                ready = client.get("/readyz").status == 200
                client.close()
                if ready:
                    break
            except OSError:
                pass
            assert self.process.poll() is None, f"the server ended with {self.process.returncode}:\n{self.log_tail()}"
            assert time.monotonic() < deadline, f"the server is not ready:\n{self.log_tail()}"
            time.sleep(0.02)
        return self

    def _read(self, stream):
        for line in stream:
            found = re.search(r"https?://\S+/login\?\S*code=\S+", line)
            if found and not self.link:
                self.link = found.group(0)
                self.link_seen.set()
        stream.close()

    def login_link(self):
        """The one-time link it printed, without where it leads."""
        assert self.link_seen.wait(10 * SLOW), "the server printed no login link"
        return re.sub(r"&next=[^&]*", "", self.link)

    @property
    def pid(self):
        return self.process.pid

    def share_tokens_of(self, other):
        """As an operator does for another server of the same ledger."""
        os.makedirs(self.data, exist_ok=True)
        for name in ("ops.token", "agent.token"):
            shutil.copy(os.path.join(other.data, name), os.path.join(self.data, name))
        return self

    @property
    def ops_token(self):
        return self._token("ops.token")

    @property
    def agent_token(self):
        return self._token("agent.token")

    def _token(self, name):
        with open(os.path.join(self.data, name), encoding="ascii") as file:
            return file.read().strip()

    def assert_alive(self):
        assert self.process.poll() is None, f"the server ended with {self.process.returncode}:\n{self.log_tail()}"
        assert Client(self.port).get("/healthz").status == 200

    def limit_file_size(self, size):
        """From now on no file grows beyond `size` bytes, as on a full disk."""
        _, hard = resource.prlimit(self.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (size, hard))

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self, by=signal.SIGTERM):
        """Returns the exit code."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(by)
        try:
            return self.process.wait(30 * SLOW)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the server did not stop within {30 * SLOW} s of signal {by}:\n{self.log_tail()}") from None

    def finish(self):
        """Stops it and looks whether it went down cleanly; leaves no process."""
        if self.process is not None and self.process.returncode is None:
            code = self.stop()
            assert code == 0, f"the server ended with {code}:\n{self.log_tail()}"
        shutil.rmtree(self.data, ignore_errors=True)

    def log_tail(self):
        try:
            with open(self.log, encoding="utf-8", errors="replace") as file:
                return file.read()[-4000:]
        except OSError:
            return "(no log)"
