"""What a person types: wrong uses are told in one line with exit 2, right ones print what the server says."""
import json
import os
import subprocess

import pytest
from support.http_client import Client
from support.server import SLOW, clean_environment


def run(tidewatt, *arguments, environment=None, stdin=None):
    return subprocess.run([tidewatt, *arguments], capture_output=True, text=True, timeout=60 * SLOW, input=stdin,
                          env=clean_environment(environment))


def one_line(text):
    return len([line for line in text.splitlines() if line.strip()]) == 1


@pytest.mark.parametrize("arguments,named", [
    (["frob"], '"frob" is no command (there are: server, demo'),
    (["energy", "frob"], "node, task, group"),
    (["energy", "node", ""], "ID"),
    (["energy", "node", "n1", "--from", "yesterday"], "--from"),
    (["energy", "node", "n1", "--from", "2026-01-01T00:00:00Z", "--to", "soon"], "--to"),
    (["energy", "node", "n1", "--to", "2026-01-01T00:00:00Z"], "--to"),
    (["energy", "node", "n1", "--from", "2026-01-02T00:00:00Z", "--to", "2026-01-01T00:00:00Z"], "--from"),
    (["energy", "node", "n1", "--range", "1x"], "--range"),
    (["energy", "node", "n1", "--range", "1h", "--from", "2026-01-01T00:00:00Z"], "--range"),
    (["energy", "node", "n1", "--server", "ftp://example"], "--server"),
    (["doctor", "--agent", "example"], "--agent"),
    (["server", "--port", "1", "--listen", "127.0.0.1:1"], "--listen"),
    (["power", "parse", "--tool", "foo", "-"], "foo"),
    (["ledger", "replay", "--max-gap", "-1", "-"], "--max-gap"),
])
def test_wrong_uses_name_what_is_wrong_and_exit_2(tidewatt, arguments, named):
    told = run(tidewatt, *arguments, stdin="")
    assert told.returncode == 2, told
    assert "--help)" in told.stderr or "there are:" in told.stderr, told.stderr
    assert one_line(told.stderr) and named in told.stderr, told.stderr
    assert "/api/" not in told.stderr, told.stderr


def test_a_server_that_is_not_there_is_named_once(tidewatt):
    told = run(tidewatt, "energy", "node", "n1", "--server", "http://127.0.0.1:1")
    assert told.returncode == 1 and told.stderr.count("127.0.0.1:1") == 1 and "/api/" not in told.stderr, told.stderr


def beat(node, second, tasks=(), second_card=None):
    cards = [{"index": 0, "source": "nvml", "power_watts": 360.0, "holders": [{"task_id": t} for t in tasks]}]
    if second_card:
        cards.append({"index": 1, "source": "nvml", **second_card})
    return {"schema": "v1", "node_id": node, "sampled_at": f"2026-03-01T10:{second // 60:02d}:{second % 60:02d}Z", "gpu_stats": cards}


@pytest.fixture(scope="module")
def filled(shared_server):
    client = Client(shared_server.port, shared_server.ops_token)
    for task, group in (("t1", "llm"), ("t2", "llm"), ("t3", "other")):
        client.post("/api/v1/tasks", {"task_id": task, "group_id": group, "kind": "inference", "started_at": "2026-03-01T09:59:00Z"})
    beats = [beat("n1", s, ["t1"]) for s in (0, 60)] + [beat("n2", s, ["t2"]) for s in (0, 30)] + [beat("n3", s, ["t3"]) for s in (0, 60)]
    beats += [beat("n4", s, second_card={"power_watts": 100.0}) for s in (0, 60)]
    beats += [beat("n4", s, second_card={"reason": "lost"}) for s in (120, 180)]
    assert client.post("/api/v1/heartbeats", beats).status == 200
    return shared_server


def energy(filled, tidewatt, *arguments):
    return run(tidewatt, "energy", *arguments, "--server", f"http://127.0.0.1:{filled.port}",
               environment={"TIDEWATT_TOKEN": filled.ops_token})


def test_a_groups_energy_is_its_tasks_sum(filled, tidewatt):
    told = energy(filled, tidewatt, "group", "llm", "--from", "2026-03-01T10:00:00Z", "--to", "2026-03-01T11:00:00Z", "--json")
    assert told.returncode == 0, told
    answer = json.loads(told.stdout)
    assert answer["energy_uj"] == str(360 * 90 * 1_000_000) and answer["tasks"] == 2, answer
    words = energy(filled, tidewatt, "group", "llm", "--from", "2026-03-01T10:00:00Z")
    assert words.returncode == 0 and "0.009 kWh" in words.stdout and "100%" in words.stdout and "tokens/J" in words.stdout, words


def test_coverage_is_whole_only_when_no_part_was_unknown(filled, tidewatt):
    whole = energy(filled, tidewatt, "node", "n1", "--from", "2026-03-01T10:00:00Z")
    assert " 100%" in whole.stdout, whole
    partly = energy(filled, tidewatt, "node", "n4", "--from", "2026-03-01T10:00:00Z")
    assert partly.returncode == 0 and " 99.9%" in partly.stdout, partly
    client = Client(filled.port, filled.ops_token)
    rows = client.get_json("/api/v1/nodes?from=2026-03-01T10:00:00Z")["nodes"]
    assert {row["node_id"]: row["partial_seconds"] > 0 for row in rows} == {"n1": False, "n2": False, "n3": False, "n4": True}, rows


def test_to_is_now_unless_it_is_said(filled, tidewatt):
    told = energy(filled, tidewatt, "node", "n1", "--from", "2026-03-01T10:00:00Z", "--json")
    assert told.returncode == 0 and json.loads(told.stdout)["energy_uj"] == str(360 * 60 * 1_000_000), told


def test_what_is_not_there_is_told_without_the_servers_paths(filled, tidewatt):
    for kind in ("node", "task", "group"):
        told = energy(filled, tidewatt, kind, "nope")
        assert told.returncode == 1 and "nope" in told.stderr and "/api/" not in told.stderr, told


def test_tokens_of_a_server_then_of_a_demo_are_tried(filled, tidewatt, tmp_path):
    folder = tmp_path / "tidewatt"
    (folder / "demo").mkdir(parents=True)
    (folder / "ops.token").write_text("wrong\n")
    arguments = ["energy", "node", "n1", "--server", f"http://127.0.0.1:{filled.port}"]
    told = run(tidewatt, *arguments, environment={"XDG_DATA_HOME": str(tmp_path)})
    assert told.returncode == 1 and str(folder / "ops.token") in told.stderr and str(folder / "demo" / "ops.token") in told.stderr, told
    (folder / "demo" / "ops.token").write_text(filled.ops_token + "\n")
    assert run(tidewatt, *arguments, environment={"XDG_DATA_HOME": str(tmp_path)}).returncode == 0


def test_replayed_beats_fail_only_when_none_is_accepted(tidewatt, tmp_path):
    path = tmp_path / "beats.jsonl"
    path.write_text("nonsense\n" + json.dumps({"node_id": ""}) + "\n")
    bad = run(tidewatt, "ledger", "replay", str(path), "--json")
    assert bad.returncode == 1 and json.loads(bad.stdout)["beats"]["rejected"] == 2, bad
    table = run(tidewatt, "ledger", "replay", str(path))
    assert table.returncode == 1 and f"{path}:1: no JSON\n" in table.stderr and f"{path}:2: " in table.stderr, table
    path.write_text("nonsense\n" + json.dumps(beat("n1", 0)) + "\n")
    assert run(tidewatt, "ledger", "replay", str(path), "--json").returncode == 0


def test_replay_books_by_the_rules_of_a_servers_settings(tidewatt, tmp_path):
    beats = tmp_path / "beats.jsonl"
    # A byte order mark, as editors on other systems put it, is no part of the first beat.
    beats.write_text("\ufeff" + "".join(json.dumps(beat("n1", s)) + "\n" for s in (0, 50)), encoding="utf-8")
    config = tmp_path / "server.yaml"
    config.write_text("energy:\n  max_gap_seconds: 30\n")

    def covered(*arguments):
        told = run(tidewatt, "ledger", "replay", str(beats), "--json", *arguments)
        assert told.returncode == 0, told
        return {a["scope"]: (a["covered_seconds"], a["gap_seconds"]) for a in json.loads(told.stdout)["accounts"]}["node"]

    assert covered() == (50, 0)
    assert covered("--config", str(config)) == (30, 20)
    assert covered("--config", str(config), "--max-gap", "40") == (40, 10), "a flag stands above the file"
    config.write_text("energy:\n  max_gapseconds: 30\n")
    told = run(tidewatt, "ledger", "replay", str(beats), "--config", str(config))
    assert told.returncode == 2 and "max_gap_seconds" in told.stderr, told


def test_no_command_shows_the_commands(tidewatt):
    told = run(tidewatt)
    assert told.returncode == 2 and "ledger" in told.stderr and "doctor" in told.stderr, told


def test_a_server_that_can_not_start_says_only_why(filled, tidewatt, tmp_path):
    told = run(tidewatt, "server", "--data", str(tmp_path / "other"), "--port", str(filled.port))
    assert told.returncode == 1 and one_line(told.stderr) and "factor" not in told.stderr, told
    locked = run(tidewatt, "server", "--data", filled.data, "--port", "0")
    assert locked.returncode == 1 and one_line(locked.stderr) and "--data" in locked.stderr, locked
    assert os.path.isdir(filled.data)


def test_a_demo_told_once_ends_when_its_history_is_booked(tidewatt, tmp_path):
    told = run(tidewatt, "demo", "--once", "--port", "0", "--nodes", "1", "--data", str(tmp_path / "data"))
    assert told.returncode == 0 and "1 SIMULATED node:" in told.stdout and "are booked" in told.stdout, told


def replay(tidewatt, tmp_path, text):
    log = tmp_path / "meter.csv"
    log.write_text(text)
    return run(tidewatt, "demo", "--port", "0", "--replay", str(log), "--speed", "1000", "--once", "--data", str(tmp_path / "data"))


def test_every_meter_of_a_log_is_played_and_every_row_counted(tidewatt, tmp_path):
    rows = ["t_ms,node,meter,watts"]
    for second in range(100):
        rows += [f"{1767225600000 + second * 1000},a,ac,100", f"{1767225600000 + second * 1000},a,dc,80"]
    rows += [rows[-2], "1767225700000,a,ac,-1"]
    told = replay(tidewatt, tmp_path, "\n".join(rows) + "\n")
    assert told.returncode == 0, told
    assert "202 rows read: 200 played, 1 unknown watts, 1 out of order" in told.stdout, told.stdout
    assert "platform: exact sum 9900000000 uJ, ledger 9900000000 uJ: equal" in told.stdout, told.stdout
    assert "dc: exact sum 7920000000 uJ, ledger 7920000000 uJ: equal" in told.stdout, told.stdout


def test_a_replay_says_which_seconds_are_in_no_sum(tidewatt, tmp_path):
    at = [1767225600000 + s * 1000 for s in (0, 10, 20, 320, 330)]
    told = replay(tidewatt, tmp_path, "t_ms,node,meter,watts\n" + "".join(f"{t},a,ac,100\n" for t in at))
    assert told.returncode == 0, told
    assert "exact sum 9000000000 uJ, ledger 9000000000 uJ: equal; gap 240 s, partial 0 s: what was used then is in neither sum" in told.stdout, told.stdout


def test_the_offline_ledger_prints_gap_and_partial_beside_energy(tidewatt, tmp_path):
    beats = tmp_path / "beats.jsonl"
    lines = [beat("n1", s, second_card={"power_watts": 100.0}) for s in (0, 60)] + [beat("n1", 120, second_card={"reason": "lost"})]
    beats.write_text("".join(json.dumps(b) + "\n" for b in lines))
    told = run(tidewatt, "ledger", "replay", str(beats))
    head, *rows = told.stdout.splitlines()
    assert "gap s" in head and "partial s" in head, told
    node = next(row for row in rows if row.startswith("node "))
    assert " 99.9%" in node and " 60 " in node, node


def test_a_log_of_another_meter_alone_plays_too(tidewatt, tmp_path):
    told = replay(tidewatt, tmp_path, "t_ms,node,meter,watts\n" + "".join(f"{1767225600000 + s * 1000},a,pdu1,50\n" for s in range(11)))
    assert told.returncode == 0 and "exact sum 500000000 uJ, ledger 500000000 uJ: equal" in told.stdout, told
