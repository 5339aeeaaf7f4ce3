"""One figure, whichever way one asks: API, export, CLI, offline replay."""
import csv
import io
import json
import os
import subprocess

import pytest

from support.beats import NodeScript
from support.http_client import Client
from support.server import ROOT, clean_environment


@pytest.fixture(scope="module")
def filled(shared_server):
    script = NodeScript("n1", beats=30, devices=2)
    Client(shared_server.port, shared_server.agent_token).post_beats(script.beats())
    shared_server.script = script
    return shared_server


def test_api_export_and_dashboard_agree(filled):
    ops = Client(filled.port, filled.ops_token)
    exact = filled.script.expected_uj()
    assert int(ops.get_json("/api/v1/nodes/n1/energy?range=48h")["energy_uj"]) == exact
    assert int(ops.get_json("/api/v1/dashboard/stats?range=48h")["energy_summary"]["energy_uj"]) == exact
    nodes = ops.get_json("/api/v1/nodes?range=48h")["nodes"]
    assert [int(n["energy_uj"]) for n in nodes] == [exact]
    tasks = ops.get_json("/api/v1/tasks?range=48h")
    assert sum(int(t["energy_uj"]) for t in tasks["tasks"]) + int(tasks["unattributed"]["energy_uj"]) == exact
    rows = ops.get_json("/api/v1/energy/export?format=json&range=48h&scope=node")["rows"]
    assert sum(int(r["energy_uj"]) for r in rows) == exact
    table = csv.DictReader(io.StringIO(ops.get("/api/v1/energy/export?format=csv&range=48h&scope=node").body.decode()))
    assert sum(int(r["energy_uj"]) for r in table) == exact


@pytest.mark.parametrize("kind,name", [("node", "n1"), ("task", "n1-task-0")])
def test_command_line_agrees(filled, tidewatt, tmp_path, kind, name):
    token = tmp_path / "token"
    token.write_text(filled.ops_token + "\n")
    command = [tidewatt, "energy", kind, name, "--range", "48h", "--server", f"http://127.0.0.1:{filled.port}", "--token-file", str(token)]
    exact = filled.script.expected_uj() if kind == "node" else filled.script.expected_device_uj(0)
    run = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=30, env=clean_environment())
    assert run.returncode == 0, run.stderr
    assert int(json.loads(run.stdout)["energy_uj"]) == exact
    table = subprocess.run(command, capture_output=True, text=True, timeout=30, env=clean_environment())
    assert table.returncode == 0 and str(exact) in table.stdout, table


def test_command_line_says_in_one_line_what_is_wrong(filled, tidewatt, tmp_path):
    token = tmp_path / "token"
    token.write_text("nonsense\n")
    for target in (f"http://127.0.0.1:{filled.port}", "http://127.0.0.1:1"):
        run = subprocess.run([tidewatt, "energy", "node", "n1", "--server", target, "--token-file", str(token)], capture_output=True, text=True,
                             timeout=30, env=clean_environment())
        assert run.returncode == 1, run
        assert len([line for line in run.stderr.splitlines() if line.strip()]) == 1, run.stderr


def test_offline_replay_agrees(filled, tidewatt, tmp_path):
    path = tmp_path / "beats.jsonl"
    path.write_text("".join(json.dumps(b) + "\n" for b in filled.script.beats()))
    run = subprocess.run([tidewatt, "ledger", "replay", str(path), "--json"], capture_output=True, text=True, timeout=30, env=clean_environment())
    assert run.returncode == 0, run.stderr
    node = next(a for a in json.loads(run.stdout)["accounts"] if a["scope"] == "node" and a["id"] == "n1")
    assert node["energy_uj"] == filled.script.expected_uj()


def test_kilowatt_hours_are_the_integer_divided(filled):
    body = Client(filled.port, filled.ops_token).get_json("/api/v1/nodes/n1/energy?range=48h")
    assert body["energy_kwh"] == pytest.approx(int(body["energy_uj"]) / 3.6e12, rel=1e-12)


def test_commands_answer_usage_errors_with_2(tidewatt):
    for arguments in (["nonsense"], ["ledger", "replay"], ["server", "--nonsense"]):
        run = subprocess.run([tidewatt, *arguments], capture_output=True, text=True, timeout=30, env=clean_environment())
        assert run.returncode == 2, (arguments, run)
        assert len([line for line in run.stderr.splitlines() if line.strip()]) == 1, run.stderr


def test_every_command_has_help_with_an_example(tidewatt):
    top = subprocess.run([tidewatt, "--help"], capture_output=True, text=True, timeout=30)
    assert top.returncode == 0
    names = [line.split()[0] for line in top.stdout.split("Subcommands:")[1].splitlines() if line.startswith("  ") and line.strip()]
    assert {"ledger", "server", "demo", "energy", "power", "doctor"} <= set(names)
    for name in names:
        told = subprocess.run([tidewatt, name, "--help"], capture_output=True, text=True, timeout=30)
        assert told.returncode == 0 and told.stdout, name


def settings_of(*command):
    """Every setting that a file may hold, as the program itself lists them."""
    told = subprocess.run([*command, "--check-config"], capture_output=True, text=True, timeout=30, env=clean_environment())
    return [line.split(":", 1)[0] for line in told.stdout.splitlines() if line and line[0].islower() and ":" in line and not line.startswith("warning")]


def test_every_setting_is_in_the_documentation(tidewatt, tidewatt_agent, tmp_path):
    for command, document in (((tidewatt_agent, "--server", "http://s"), "agent.md"), ((tidewatt, "server", "--data", str(tmp_path)), "server.md")):
        settings = settings_of(*command)
        assert len(settings) > 12, settings
        with open(os.path.join(ROOT, "docs", "operate", document), encoding="utf-8") as file:
            rows = [line for line in file if line.startswith("| `")]
        missing = [s for s in settings if s != "once" and not any(f"`{s}`" in row.split("|")[1] for row in rows)]
        assert not missing, (document, missing)
