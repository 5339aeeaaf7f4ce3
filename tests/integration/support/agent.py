"""A `tidewatt-agent` process, and a proxy that stands between it and the server and misbehaves on demand."""
import gzip
import http.client
import json
import os
import random
import resource
import signal
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from .server import SLOW, binary, clean_environment, free_port


class Agent:
    def __init__(self, folder, server_url, token, node_id="agent-node", sources="sim:gpus=4", beat="1s", interval="100ms", flags=(),
                 environment=None):
        self.folder = str(folder)
        os.makedirs(self.folder, exist_ok=True)
        self.token_file = os.path.join(self.folder, "token")
        with open(self.token_file, "w", encoding="ascii") as file:
            file.write(token + "\n")
        os.chmod(self.token_file, 0o600)
        self.port = free_port()
        self.node_id = node_id
        self.spool = os.path.join(self.folder, "spool")
        self.log = os.path.join(self.folder, "log")
        self.flags = ["--server", server_url, "--token-file", self.token_file, "--node-id", node_id, "--sources", sources, "--beat", beat,
                      "--interval", interval, "--spool-dir", self.spool, "--listen", f"127.0.0.1:{self.port}", *flags]
        self.environment = environment
        self.process = None

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([binary("tidewatt-agent"), *self.flags], env=clean_environment(self.environment), stdout=log, stderr=log,
                                            restore_signals=False)  # a file at its limit is an error, not a signal
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(20 * SLOW)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the agent did not stop in time:\n{self.log_tail()}") from None

    def limit_file_size(self, size):
        """From now on no file grows beyond `size` bytes, as on a full disk."""
        _, hard = resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (size, hard))

    def metric(self, name):
        """The value of the first line that begins so; None without one."""
        return next((float(line.rsplit(" ", 1)[1]) for line in self.get("/metrics")[1].splitlines() if line.startswith(name)), None)

    def get(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        return answer.status, body

    def log_tail(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()[-4000:]


class Proxy:
    """Passes requests on to the server. While `trouble` > 0 that share of requests goes wrong: lost on the way there, lost on the
    way back (booked, but the agent doesn't know), or answered 503. `seen` holds each beat the agent ever sent, by its seq."""

    def __init__(self, port_of_server):
        self.port_of_server = port_of_server
        self.trouble = 0.0
        self.down = False
        self.seen = {}
        self.sent_again = 0
        self.random = random.Random(5)
        self.lock = threading.Lock()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                proxy.note(self.headers.get("Content-Encoding", ""), body)
                with proxy.lock:
                    fate = proxy.random.random() < proxy.trouble and proxy.random.choice(("lost", "answer lost", "503")) or "pass"
                if proxy.down or fate == "lost":
                    self.close_connection = True
                    self.connection.close()
                    return
                if fate == "503":
                    self.answer(503, {"Retry-After": "0", "Content-Type": "application/problem+json"}, b"{}")
                    return
                try:
                    onward = http.client.HTTPConnection("127.0.0.1", proxy.port_of_server(), timeout=20)
                    onward.request("POST", self.path, body=body, headers={k: v for k, v in self.headers.items() if k.lower() != "host"})
                    got = onward.getresponse()
                    data = got.read()
                    onward.close()
                except (OSError, http.client.HTTPException):
                    self.close_connection = True
                    self.connection.close()
                    return
                if fate == "answer lost":
                    self.close_connection = True
                    self.connection.close()
                    return
                self.answer(got.status, {k: v for k, v in got.getheaders() if k.lower() in ("content-type", "retry-after")}, data)

            def answer(self, status, headers, data):
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        class QuietServer(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass

        self.http = QuietServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def note(self, encoding, body):
        if encoding == "gzip":
            body = gzip.decompress(body)
        beats = json.loads(body)
        with self.lock:
            for beat in beats if isinstance(beats, list) else [beats]:
                known = self.seen.get(beat["seq"])
                if known is not None:
                    self.sent_again += 1
                    assert known == beat, "the same seq was sent with another content"
                self.seen[beat["seq"]] = beat

    def beats(self):
        with self.lock:
            return [self.seen[seq] for seq in sorted(self.seen)]

    def close(self):
        self.http.shutdown()
        self.http.server_close()
