"""The pages show what the API says."""
import json
import os
import re
import shutil
import subprocess

import pytest

from support.beats import NodeScript
from support.http_client import Client
from support.server import ROOT, SLOW

PACKAGE = os.path.join(ROOT, "web", "package.json")
pytestmark = pytest.mark.skipif(
    not (shutil.which("node") and shutil.which("chromium") and os.path.isdir(os.path.join(ROOT, "web", "node_modules", "playwright-core"))),
    reason="needs node, chromium and web/node_modules")


def read_pages(server, *paths):
    run = subprocess.run(["node", os.path.join(ROOT, "tests", "integration", "support", "read_page.mjs"), PACKAGE,
                          f"http://127.0.0.1:{server.port}", server.login_link(), *paths],
                         capture_output=True, text=True, timeout=90 * SLOW)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def kilowatt_hours(text):
    """All figures of energy on a page, in kWh."""
    factor = {"Wh": 1e-3, "kWh": 1.0, "MWh": 1e3}
    return [float(number.replace(",", "").replace("\u202f", "")) * factor[unit] for number, unit in re.findall(r"(\d[\d.,\u202f]*)\s*(kWh|MWh|Wh)\b", text)]


def test_pages_and_api_show_the_same_energy(server):
    if b"<script" not in Client(server.port).get("/").body:
        pytest.skip("this server was built without its pages")
    script = NodeScript("n1", beats=150, devices=4)
    agent = Client(server.port, server.agent_token)
    agent.post_beats(script.beats())
    exact = script.expected_uj() / 3.6e12
    dashboard, node = read_pages(server, "/", "/nodes/n1")
    for name, text in (("dashboard", dashboard), ("node", node)):
        assert any(abs(shown - exact) <= exact * 0.006 for shown in kilowatt_hours(text)), (name, exact, kilowatt_hours(text), text[:1500])
        assert not re.search(r"\b(NaN|undefined|null|Infinity)\b", text), (name, text[:1500])


def test_a_node_without_power_shows_a_dash_and_no_zero(server):
    if b"<script" not in Client(server.port).get("/").body:
        pytest.skip("this server was built without its pages")
    script = NodeScript("blank", beats=3, devices=1)
    beats = script.beats()
    for beat in beats:
        del beat["gpu_stats"][0]["power_watts"]
    Client(server.port, server.agent_token).post_beats(beats)
    (text,) = read_pages(server, "/nodes/blank")
    assert "—" in text, text[:1500]
    assert not re.search(r"(?<![\d.])0(\.0+)?\s*(kWh|Wh|W|kW)\b", text), text[:1500]
