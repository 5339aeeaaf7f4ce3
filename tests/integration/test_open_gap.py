"""A node whose agent stopped must not read as wholly covered."""

import json
import subprocess

from support.beats import NodeScript, now_ms
from support.http_client import Client
from support.server import SLOW, clean_environment


def script(node, stopped_ms_ago, **more):
    """Six beats, the last of them so long ago."""
    beats = 6
    return NodeScript(node, beats=beats, devices=1, start_ms=now_ms() - stopped_ms_ago - (beats - 1) * 20_000, period_ms=20_000, **more)


def test_coverage_falls_after_an_agent_stopped(server, tidewatt):
    agent = Client(server.port, server.agent_token)
    agent.post_beats(script("stopped", 600_000).beats())
    agent.post_beats(script("live", 1_000).beats())
    ops = Client(server.port, server.ops_token)
    live = ops.get_json("/api/v1/nodes/live/energy?range=24h")
    assert live["coverage"] == 1 and live["open_gap_seconds"] == 0, live
    energy = ops.get_json("/api/v1/nodes/stopped/energy?range=24h")
    assert 600 <= energy["open_gap_seconds"] <= 660, energy
    assert energy["gap_seconds"] == energy["open_gap_seconds"] and energy["covered_seconds"] == 100
    assert 100 / 760 <= energy["coverage"] <= 100 / 700
    assert "open_gap" in [note["code"] for note in energy["notes"]]
    cluster = ops.get_json("/api/v1/dashboard/stats?range=24h")
    summary = cluster["energy_summary"]
    assert summary["coverage"] < 0.3
    known = [hour for hour in cluster["hourly"] if hour["energy_uj"] is not None]
    assert sum(int(hour["energy_uj"]) for hour in known) == int(summary["energy_uj"])
    assert sum(hour["gap_seconds"] or 0 for hour in cluster["hourly"]) == summary["gap_seconds"]
    told = subprocess.run([tidewatt, "energy", "node", "stopped", "--server", f"http://127.0.0.1:{server.port}"], capture_output=True, text=True,
                          timeout=30 * SLOW, env=clean_environment({"TIDEWATT_TOKEN": server.ops_token}))
    assert told.returncode == 0, told
    assert "100%" not in told.stdout and "open" in told.stdout, told.stdout


def test_what_is_booked_stays_as_it_was(server):
    Client(server.port, server.agent_token).post_beats(script("stopped", 600_000).beats())
    ops = Client(server.port, server.ops_token)
    account = ops.get_json("/api/v1/energy/accounts?scope=node&ids=stopped")["accounts"][0]
    assert account["gap_seconds"] == 0 and account["open_gap_seconds"] == 0
    rows = ops.get_json("/api/v1/energy/export?range=24h&format=json&scope=node")["rows"]
    assert sum(row["gap_seconds"] for row in rows) == 0, json.dumps(rows)
