"""A real Prometheus writes what exporters say to a real server: what its counters moved by is what is booked."""
import http.server
import json
import shutil
import subprocess
import threading
import time

import pytest

from support.http_client import Client
from support.server import free_port

PROMETHEUS = shutil.which("prometheus")
PROMTOOL = shutil.which("promtool")


class Exporter:
    """A DCGM exporter and a vLLM in one page: counters that move with each scrape, and fall once."""

    def __init__(self):
        self.scrapes = 0
        self.joules = []
        self.tokens = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # noqa: N802
                body = outer.page().encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def page(self):
        self.scrapes += 1
        at = self.scrapes
        millijoules = 5_000_000 + 70_000 * at
        tokens = 1000 + 10 * at if at < 6 else 10 * (at - 5)  # it was started again after the fifth scrape
        self.joules.append(millijoules / 1000)
        self.tokens.append(tokens)
        card = 'gpu="0",UUID="GPU-7",modelName="NVIDIA H100 80GB HBM3",Hostname="gpu-x",exported_namespace="chat",exported_pod="llm-0"'
        return (f"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{{{card}}} {millijoules}\n"
                f"DCGM_FI_DEV_POWER_USAGE{{{card}}} 350\n"
                f'vllm:generation_tokens_total{{namespace="chat",pod="llm-0",model_name="m"}} {tokens}\n')


@pytest.fixture
def exporter():
    made = Exporter()
    yield made
    made.server.shutdown()
    made.server.server_close()


def write_config(path, exporter, server, replica):
    path.write_text(json.dumps({
        "global": {"scrape_interval": "200ms", "external_labels": {"__replica__": replica}},
        "scrape_configs": [{"job_name": "x", "honor_labels": True, "static_configs": [{"targets": [f"127.0.0.1:{exporter.port}"]}]}],
        "remote_write": [{"url": f"http://127.0.0.1:{server.port}/api/v1/write", "authorization": {"credentials": server.agent_token},
                          "queue_config": {"batch_send_deadline": "100ms"}}]}), encoding="utf-8")


def run_prometheus(folder, exporter, server, replica):
    folder.mkdir()
    write_config(folder / "prometheus.yml", exporter, server, replica)
    return subprocess.Popen([PROMETHEUS, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                             f"--web.listen-address=127.0.0.1:{free_port()}", "--log.level=warn"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def wait_for(condition, seconds=40):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError("it didn't come in time")


@pytest.mark.skipif(PROMETHEUS is None, reason="prometheus isn't installed")
def test_a_pair_of_prometheus_writes_and_each_joule_and_token_counts_once(server, exporter, tmp_path):
    ops = Client(server.port, server.ops_token)
    ops.post("/api/v1/tasks", {"task_id": "chat/llm-0", "team": "chat", "kind": "inference", "group_id": "chat"})
    pair = [run_prometheus(tmp_path / name, exporter, server, name) for name in ("p0", "p1")]
    try:
        wait_for(lambda: exporter.scrapes > 14)
    finally:
        for one in pair:
            one.terminate()  # it sends what it has before it ends
        for one in pair:
            one.wait(timeout=30)
    rows = ops.get("/api/v1/energy/accounts?scope=node&ids=gpu-x").json()["accounts"]
    assert len(rows) == 1, rows
    booked = int(rows[0]["energy_uj"])
    # From the first sample taken in to the last: a whole number of steps of 70 J, and no more than were made.
    assert booked % 70_000_000 == 0
    assert 70_000_000 * 8 <= booked <= 70_000_000 * (exporter.scrapes - 1)
    task = ops.get("/api/v1/energy/accounts?scope=task&ids=chat/llm-0").json()["accounts"]
    assert int(task[0]["energy_uj"]) == booked, "the pod held the card alone"
    text = ops.get("/metrics").body.decode()
    assert 'tidewatt_remote_write_samples_total{outcome="booked"}' in text
    assert 'tidewatt_remote_write_samples_total{outcome="no_task"} 0' in text


@pytest.mark.skipif(PROMTOOL is None, reason="promtool isn't installed")
def test_promtool_finds_nothing_wrong_with_the_metrics_whatever_labels_came(server):
    hostile = 'a"b\\c\nd{}=\u2028\U0001f4a5'
    beat = {"schema": "v1", "node_id": hostile, "cluster": hostile, "gpu_stats": [{"index": 0, "uuid": hostile, "power_watts": 5, "source": hostile}]}
    assert Client(server.port, server.agent_token).post("/api/v1/heartbeats", [beat]).status == 200
    text = Client(server.port, server.ops_token).get("/metrics").body
    checked = subprocess.run([PROMTOOL, "check", "metrics"], input=text, capture_output=True, timeout=30, check=False)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")


def test_what_is_no_remote_write_is_told_so(server):
    agent = Client(server.port, server.agent_token)
    for headers, status in (({"Content-Encoding": "snappy"}, 400), ({}, 415),
                            ({"Content-Encoding": "snappy", "Content-Type": "application/x-protobuf;proto=io.prometheus.write.v2.Request"}, 415)):
        assert agent.request("POST", "/api/v1/write", b"\xff\xff\xff", headers).status == status, headers
