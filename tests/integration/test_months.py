"""Closed months: sealed, checked, adjusted, backed up and restored, as an operator does it."""
import csv
import io
import json
import os
import subprocess
from datetime import datetime, timedelta, timezone

import pytest

from support.beats import NodeScript
from support.http_client import Client
from support.postgres import Postgres, programs


def last_month():
    """The first hour of the month before this one, and its name."""
    first = datetime.now(timezone.utc).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    begin = (first - timedelta(days=1)).replace(day=1)
    return begin, first, begin.strftime("%Y-%m")


def script(node, month_begin, **extra):
    return NodeScript(node, beats=12, devices=2, start_ms=int(month_begin.timestamp() * 1000) + 3_600_000, **extra)


def book(server, nodes):
    answer = Client(server.port, server.agent_token).post("/api/v1/heartbeats", [beat for node in nodes for beat in node.beats()])
    assert {result["status"] for result in answer.json()["results"]} == {"accepted"}, answer


def run(tidewatt, *arguments, token=None, code=0):
    environment = {**os.environ, **({"TIDEWATT_TOKEN": token} if token else {})}
    done = subprocess.run([tidewatt, *arguments], capture_output=True, text=True, env=environment)
    assert done.returncode == code, (arguments, done.returncode, done.stdout, done.stderr)
    return done


@pytest.fixture
def sealed(server, tidewatt):
    """A server with last month sealed, and a node that came late for it."""
    begin, end, month = last_month()
    early, late = script("=early", begin), script("late", begin, salt=3)
    book(server, [early])
    url = f"http://127.0.0.1:{server.port}"
    run(tidewatt, "ledger", "seal", "--month", month, "--server", url, token=server.ops_token)
    book(server, [late])
    return server, url, early, late, begin, end, month


def test_what_comes_late_is_counted_beside_the_sealed_rows(sealed, tidewatt):
    server, url, early, late, begin, end, month = sealed
    ops = Client(server.port, server.ops_token)
    window = f"from={begin:%Y-%m-%dT%H:%M:%SZ}&to={end:%Y-%m-%dT%H:%M:%SZ}"
    kept = ops.get_json(f"/api/v1/nodes/%3Dearly/energy?{window}")
    assert int(kept["energy_uj"]) == early.expected_uj() and "adjustments_uj" not in kept
    answer = ops.get_json(f"/api/v1/nodes/late/energy?{window}")
    assert int(answer["energy_uj"]) == int(answer["adjustments_uj"]) == late.expected_uj()
    assert "adjustments" in [note["code"] for note in answer["notes"]]
    seals = ops.get_json("/api/v1/ledger/seals")["seals"]
    assert [seal["month"] for seal in seals] == [month]
    assert int(seals[0]["energy_uj"]) == early.expected_uj()
    checked = ops.get_json("/api/v1/ledger/verify")
    assert checked["ok"] and checked["adjustments"] > 0, checked
    assert int(checked["node_energy_uj"]) == early.expected_uj() + late.expected_uj()
    assert "Everything adds up" in run(tidewatt, "ledger", "verify", "--server", url, token=server.ops_token).stdout
    refused = run(tidewatt, "ledger", "seal", "--month", "2999-01", "--server", url, token=server.ops_token, code=1)
    assert "isn't over yet" in refused.stderr


def test_export_pages_and_files_hold_the_same_rows(sealed, tidewatt, tmp_path):
    server, url, early, late, begin, end, _ = sealed
    ops = Client(server.port, server.ops_token)
    window = f"from={begin:%Y-%m-%dT%H:%M:%SZ}&to={end:%Y-%m-%dT%H:%M:%SZ}"
    whole = ops.get_json(f"/api/v1/energy/export?{window}&format=json")["rows"]
    assert {row["entry"] for row in whole} == {"hour", "adjustment"}
    nodes = [row for row in whole if row["scope"] == "node"]
    assert sum(int(row["energy_uj"]) for row in nodes) == early.expected_uj() + late.expected_uj()
    paged, cursor = [], ""
    while cursor is not None:
        page = ops.get_json(f"/api/v1/energy/export?{window}&format=json&limit=3" + (f"&cursor={cursor}" if cursor else ""))
        paged += page["rows"]
        cursor = page["next_cursor"]
    assert paged == whole
    assert ops.get(f"/api/v1/energy/export?{window}&limit=3&cursor=zz").status == 400
    common = ["ledger", "export", "--from", f"{begin:%Y-%m-%dT%H:%M:%SZ}", "--to", f"{end:%Y-%m-%dT%H:%M:%SZ}"]
    remote = run(tidewatt, *common, "--format", "json", "--server", url, token=server.ops_token).stdout
    assert json.loads(remote)["rows"] == whole
    # The same of the file, while the server has it open.
    output = tmp_path / "rows.csv"
    run(tidewatt, *common, "--db", f"{server.data}/tidewatt.db", "--output", str(output))
    table = list(csv.DictReader(io.StringIO(output.read_text())))
    assert len(table) == len(whole)
    assert {row["id"] for row in table if row["scope"] == "node"} == {"'=early", "late"}
    run(tidewatt, *common, "--db", f"{server.data}/tidewatt.db", "--output", str(output), code=1)


def test_a_live_ledger_is_checked_and_a_changed_row_is_named(sealed, tidewatt):
    server = sealed[0]
    path = f"{server.data}/tidewatt.db"
    assert json.loads(run(tidewatt, "ledger", "verify", "--db", path, "--json").stdout)["ok"]
    busy = run(tidewatt, "ledger", "seal", "--month", sealed[6], "--db", path, code=1)
    assert "--server" in busy.stderr
    server.stop()
    import sqlite3
    db = sqlite3.connect(path)
    db.execute("UPDATE energy_hourly SET energy_uj = energy_uj + 1 WHERE account = (SELECT pk FROM accounts WHERE scope = 1 AND id = '=early')")
    db.commit()
    db.close()
    found = json.loads(run(tidewatt, "ledger", "verify", "--db", path, "--json", code=1).stdout)
    text = "\n".join(found["mismatches"])
    assert f"seal of {sealed[6]}" in text and "node default/=early" in text and "tasks and unattributed" in text
    server.start()


@pytest.mark.skipif(programs() is None, reason="PostgreSQL is not installed: apt-get install postgresql")
def test_a_backup_moves_a_ledger_to_postgres_and_back(sealed, tidewatt, tmp_path):
    server, _, early, late, *_ = sealed
    source = f"{server.data}/tidewatt.db"
    one, two, three = (str(tmp_path / name) for name in ("one", "two", "three.db"))
    run(tidewatt, "backup", "--db", source, "--to", one)
    assert "overwritten" in run(tidewatt, "backup", "--db", source, "--to", one, code=1).stderr
    postgres = Postgres()
    try:
        restored = run(tidewatt, "restore", one, "--to", postgres.url).stdout
        assert str(early.expected_uj() + late.expected_uj()) in restored and "Seals and sums are right" in restored
        assert "already" in run(tidewatt, "restore", one, "--to", postgres.url, code=1).stderr
        run(tidewatt, "ledger", "verify", "--store", postgres.url)
        run(tidewatt, "backup", "--store", postgres.url, "--to", two)
        run(tidewatt, "restore", two, "--to", three)
    finally:
        postgres.close()
    first, last = (json.loads(run(tidewatt, "ledger", "verify", "--db", path, "--json").stdout) for path in (source, three))
    assert first == last and first["ok"]
    with open(one, "rb") as file:
        whole = file.read()
    for name, bad in (("cut", whole[:-9]), ("flipped", whole[:200] + bytes([whole[200] ^ 4]) + whole[201:])):
        path = tmp_path / name
        path.write_bytes(bad)
        assert "damaged" in run(tidewatt, "restore", str(path), "--to", str(tmp_path / "new.db"), code=1).stderr
        assert not (tmp_path / "new.db").exists()
