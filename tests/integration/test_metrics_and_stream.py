"""What others scrape and what pages listen to."""
import http.client
import json
import re
import shutil
import subprocess

import pytest

from support.beats import NodeScript
from support.http_client import Client


@pytest.fixture(scope="module")
def filled(shared_server):
    Client(shared_server.port, shared_server.agent_token).post_beats(NodeScript("n1", beats=6, devices=2).beats())
    return shared_server


def test_metrics_are_open_on_loopback_and_well_formed(filled):
    answer = Client(filled.port).get("/metrics")
    assert answer.status == 200
    text = answer.body.decode()
    assert re.search(r"^tidewatt_\w+(\{.*\})? [0-9.eE+-]+$", text, re.M), text[:500]
    for line in text.splitlines():
        assert line == "" or line.startswith("#") or re.match(r"^[a-zA-Z_:][a-zA-Z0-9_:]*(\{.*\})? \S+( \d+)?$", line), line


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_metrics_pass_promtool(filled):
    text = Client(filled.port).get("/metrics").body
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, timeout=30)
    assert checked.returncode == 0, checked.stderr.decode() + checked.stdout.decode()


def test_conservation_difference_is_exported_and_zero(filled):
    text = Client(filled.port).get("/metrics").body.decode()
    values = [float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
              if "conservation" in line and not line.startswith("#")]
    assert values and all(v == 0 for v in values), text


def test_stream_sends_ticks(filled):
    connection = http.client.HTTPConnection("127.0.0.1", filled.port, timeout=20)
    connection.request("GET", "/api/v1/stream", headers={"Authorization": f"Bearer {filled.ops_token}", "Accept": "text/event-stream"})
    answer = connection.getresponse()
    assert answer.status == 200
    assert answer.getheader("Content-Type").startswith("text/event-stream")
    event, data = None, None
    for _ in range(50):
        line = answer.fp.readline().decode().rstrip("\r\n")
        if line.startswith("event:"):
            event = line[6:].strip()
        if line.startswith("data:") and event == "tick":
            data = json.loads(line[5:])
            break
    connection.close()
    assert data is not None, "no tick came"
    assert {"at", "power_watts", "devices_known", "devices_total", "nodes", "beats_total"} <= data.keys()
    assert data["beats_total"] >= 6


def test_stream_needs_a_token(filled):
    assert Client(filled.port).get("/api/v1/stream").status == 401
    assert Client(filled.port, filled.agent_token).get("/api/v1/stream").status == 403
