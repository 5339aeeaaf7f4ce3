"""Booked power goes on to a real Prometheus, also over an outage of it; the ledger is the same with and without."""
import http.server
import shutil
import subprocess
import threading
import time

import pytest

from support.beats import NodeScript
from support.http_client import Client
from support.server import Server, free_port

PROMETHEUS = shutil.which("prometheus")
pytestmark = pytest.mark.skipif(PROMETHEUS is None, reason="prometheus isn't installed")


class Receiver:
    def __init__(self, folder):
        self.folder, self.port, self.process = folder, free_port(), None
        folder.mkdir()
        (folder / "prometheus.yml").write_text("{}", encoding="utf-8")

    def start(self):
        self.process = subprocess.Popen(
            [PROMETHEUS, f"--config.file={self.folder}/prometheus.yml", f"--storage.tsdb.path={self.folder}/data", "--web.enable-remote-write-receiver",
             f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(timeout=30)
        self.process = None

    def samples(self, query):
        return Client(self.port).get_json(f"/api/v1/query?query={query}[1h]")["data"]["result"]


@pytest.fixture
def receiver(tmp_path):
    made = Receiver(tmp_path / "receiver")
    yield made
    made.stop()


def wait_for(condition, seconds=60):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            found = condition()
        except OSError:
            found = None
        if found:
            return found
        time.sleep(0.3)
    raise AssertionError("it didn't come in time")


def counts(server):
    text = Client(server.port, server.ops_token).get("/metrics").body.decode()
    return {line.split('"')[1] if '"' in line else "waiting": float(line.rsplit(" ", 1)[1])
            for line in text.splitlines() if line.startswith("tidewatt_forward_")}


def test_power_arrives_once_at_its_own_time_also_after_an_outage_of_the_receiver(tmp_path, receiver):
    script = NodeScript("n1", 6, devices=2)
    beats = script.beats()
    beats[3]["gpu_stats"][1].update(power_watts=None, reason="tool_prints_[N/A]", metrics_available=[])
    config = tmp_path / "server.yaml"
    config.write_text(f"forward: {{url: 'http://127.0.0.1:{receiver.port}/api/v1/write'}}\n", encoding="utf-8")
    server = Server(tmp_path / "s", flags=["--config", str(config)]).start()
    try:
        agent = Client(server.port, server.agent_token)
        for one in beats[:5]:  # nobody listens yet
            assert agent.post_beats([one])[0]["status"] == "accepted"
        assert agent.post_beats([beats[4]])[0]["status"] == "duplicate"
        wait_for(lambda: "power can't be forwarded" in server.log_tail())
        assert counts(server) == {"sent": 0, "refused": 0, "dropped": 0, "waiting": 9}
        receiver.start()
        wait_for(lambda: counts(server)["sent"] == 9)
        agent.post_beats([beats[5]])
        wait_for(lambda: counts(server)["sent"] == 11)
        series = {one["metric"]["device"]: one for one in wait_for(lambda: receiver.samples("tidewatt_device_power_watts"))}
        assert series["0"]["metric"] == {"__name__": "tidewatt_device_power_watts", "cluster": "default", "device": "0", "domain": "gpu", "node": "n1",
                                         "quality": "measured", "uuid": "n1-GPU-0"}
        for device, known in (("0", range(6)), ("1", [0, 1, 2, 4, 5])):
            assert [(round(at * 1000), float(value)) for at, value in series[device]["values"]] == [
                (script.start_ms + i * script.period_ms, script.milliwatts(i, int(device)) / 1000) for i in known], \
                "the sample's time, not the server's; a duplicate isn't sent on, and the unknown is no 0"
    finally:
        server.finish()


def test_a_wrong_address_is_refused_at_the_start(tidewatt, tmp_path):
    config = tmp_path / "server.yaml"
    for text, told in (("url: 'victoria:8428'", "no http:// or https:// address"), ("url: 'http://me:s3cret@victoria:8428/api'", "token_file"), ("token_file: /etc/token", "is missing")):
        config.write_text(f"forward: {{{text}}}\n", encoding="utf-8")
        run = subprocess.run([tidewatt, "server", "--data", str(tmp_path / "d"), "--config", str(config), "--check-config"], capture_output=True, text=True, timeout=30)
        said = run.stdout + run.stderr
        assert run.returncode != 0 and "forward.url" in said and told in said and "s3cret" not in said, run


def test_a_receiver_that_sends_headers_back_doesnt_bring_the_token_into_the_log(tmp_path):
    class Echo(http.server.BaseHTTPRequestHandler):
        def do_POST(self):  # noqa: N802
            self.rfile.read(int(self.headers["Content-Length"]))
            body = str(self.headers).encode()
            self.send_response(400)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    echo = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=echo.serve_forever, args=(0.05,), daemon=True).start()
    (tmp_path / "token").write_text("secret-token-12345\n", encoding="utf-8")
    (tmp_path / "server.yaml").write_text(f"forward: {{url: 'http://127.0.0.1:{echo.server_address[1]}/w', token_file: '{tmp_path}/token'}}\n", encoding="utf-8")
    server = Server(tmp_path / "s", flags=["--config", str(tmp_path / "server.yaml")]).start()
    try:
        Client(server.port, server.agent_token).post_beats(NodeScript("n1", 3).beats())
        wait_for(lambda: counts(server)["refused"] == 6)
        assert "HTTP 400" in server.log_tail() and "secret-token" not in server.log_tail()
    finally:
        server.finish()
        echo.shutdown()
        echo.server_close()
