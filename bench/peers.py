"""Starts Debian's Prometheus, VictoriaMetrics and node_exporter on loopback with a data folder of their own."""
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Peer:
    """A running peer; leaves nothing behind on exit."""

    def __init__(self, name, command, port, folder, ready_path):
        self.name, self.port, self.folder = name, port, folder
        self.log = open(os.path.join(folder, "log"), "wb")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, cwd=folder)
        self.pid = self.process.pid
        deadline = time.monotonic() + 30
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}{ready_path}", timeout=2).close()
                return
            except (OSError, urllib.error.URLError):
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self.stop()
                    raise RuntimeError(f"{name} did not start, see {folder}/log") from None
                time.sleep(0.1)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def which(*names):
    for name in names:
        found = shutil.which(name)
        if found:
            return found
    return None


def prometheus(folder):
    port = free_port()
    with open(os.path.join(folder, "prometheus.yml"), "w", encoding="ascii") as config:
        config.write("global: {scrape_interval: 1h}\nscrape_configs: []\n")
    return Peer("prometheus", [which("prometheus"), f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                               f"--web.listen-address=127.0.0.1:{port}", "--web.enable-remote-write-receiver"], port, folder, "/-/ready")


def victoria_metrics(folder):
    port = free_port()
    return Peer("victoria-metrics", [which("victoria-metrics"), f"-storageDataPath={folder}/data", f"-httpListenAddr=127.0.0.1:{port}",
                                     "-retentionPeriod=1"], port, folder, "/health")


def node_exporter(folder, flags=()):
    port = free_port()
    return Peer("node_exporter", [which("prometheus-node-exporter"), f"--web.listen-address=127.0.0.1:{port}", *flags], port, folder, "/metrics")
