"""`tidewatt report`: from a server and from the ledger's file alike, and closed months don't change."""
import csv
import io
import json
import os
import subprocess
from datetime import datetime, timedelta, timezone

import pytest

from support.beats import NodeScript
from support.http_client import Client

FACTOR = {"ENERGY_GRID_EMISSION_FACTOR": "0.38", "ENERGY_GRID_EMISSION_SOURCE": "agency, document, 2026"}


def run(tidewatt, *arguments, token=None, code=0, environment=FACTOR):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TIDEWATT_", "ENERGY_"))}
    done = subprocess.run([tidewatt, "report", *arguments], capture_output=True, text=True,
                          env={**kept, **environment, **({"TIDEWATT_TOKEN": token} if token else {})})
    assert done.returncode == code, (arguments, done.returncode, done.stdout, done.stderr)
    return done


def book(server, script):
    answer = Client(server.port, server.agent_token).post("/api/v1/heartbeats", list(script.beats()))
    assert {result["status"] for result in answer.json()["results"]} == {"accepted"}, answer


@pytest.fixture
def month(make_server):
    server = make_server(environment=FACTOR)
    server.start()
    first = datetime.now(timezone.utc).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    begin = (first - timedelta(days=1)).replace(day=1)
    script = NodeScript("n1", beats=12, devices=2, start_ms=int(begin.timestamp() * 1000) + 3_600_000)
    book(server, script)
    return server, script, begin


def test_server_and_file_give_the_same_bytes_in_each_format(month, tidewatt):
    server, script, begin = month
    url, period = f"http://127.0.0.1:{server.port}", f"{begin:%Y-%m}"
    for form in ("json", "csv", "md", "html"):
        remote = run(tidewatt, "--period", period, "--scope", "node", "--format", form, "--server", url, token=server.ops_token).stdout
        assert remote == run(tidewatt, "--period", period, "--scope", "node", "--format", form, "--db", f"{server.data}/tidewatt.db").stdout
        assert remote.strip()
    total = json.loads(run(tidewatt, "--period", period, "--format", "json", "--server", url, token=server.ops_token).stdout)["total"]
    assert int(total["energy_uj"]) == script.expected_uj()
    kwh = script.expected_uj() / 3.6e12
    assert total["carbon"]["annual_factor"]["kgco2e"]["value"] == pytest.approx(kwh * 0.38)
    assert total["carbon"]["hourly_signal"]["kgco2e"] == {"value": None, "reason": "no_signal"}
    table = list(csv.DictReader(io.StringIO(run(tidewatt, "--period", period, "--scope", "node", "--format", "csv", "--server", url, token=server.ops_token).stdout)))
    assert [row["id"] for row in table] == ["n1", ""] and int(table[0]["energy_uj"]) == script.expected_uj()


def test_a_sealed_month_keeps_its_figures_and_lists_what_came_late(month, tidewatt):
    server, script, begin = month
    url, period = f"http://127.0.0.1:{server.port}", f"{begin:%Y-%m}"
    sealed = Client(server.port, server.ops_token).post("/api/v1/ledger/seals", {"month": period})
    assert sealed.status == 200, sealed
    late = NodeScript("late", beats=12, devices=2, salt=3, start_ms=int(begin.timestamp() * 1000) + 3_600_000)
    book(server, late)
    report = json.loads(run(tidewatt, "--period", period, "--format", "json", "--server", url, token=server.ops_token).stdout)
    assert report["sealed"] and report["seals"][0]["month"] == period
    assert int(report["total"]["energy_uj"]) == script.expected_uj()
    adjustments = report["total"]["adjustments"]
    assert int(adjustments["energy_uj"]) == late.expected_uj()
    assert adjustments["annual_factor_kgco2e"]["value"] == pytest.approx(late.expected_uj() / 3.6e12 * 0.38)


def test_settings_of_the_server_count_offline_too(month, tidewatt, tmp_path):
    server, script, begin = month
    config = tmp_path / "server.yaml"
    config.write_text('money:\n  tariff: "0.20; 0-24 0.30"\naccounting:\n  pue: 1.2\n  pue_source: metered 2025\n')
    out = tmp_path / "report.json"
    run(tidewatt, "--period", f"{begin:%Y}", "--format", "json", "--db", f"{server.data}/tidewatt.db", "--config", str(config), "--out", str(out))
    total = json.loads(out.read_text())["total"]
    kwh = script.expected_uj() / 3.6e12
    assert total["money"]["energy_cost"]["value"] == pytest.approx(kwh * 0.30)
    assert total["carbon"]["overhead"]["energy_kwh"]["value"] == pytest.approx(kwh * 0.2)
    config.write_text("money:\n  tariff: cheap\n")
    refused = run(tidewatt, "--period", "2026", "--db", f"{server.data}/tidewatt.db", "--config", str(config), code=1)
    assert "cheap" in refused.stderr and refused.stderr.count("\n") == 1


@pytest.mark.parametrize("day, hours", [("2026-03-28", 1), ("2026-03-29", 0), ("2026-10-25", 2)])
def test_a_local_tariff_has_no_hour_or_two_on_the_days_when_clocks_change(make_server, tidewatt, tmp_path, day, hours):
    server = make_server(environment=FACTOR)
    server.start()
    begin = datetime.fromisoformat(f"{day}T00:00:00+00:00")
    script = NodeScript("n1", beats=24 * 60 + 1, devices=1, period_ms=60_000, start_ms=int(begin.timestamp() * 1000))
    script.milliwatts = lambda beat, device: 1_000_000
    beats = script.beats()
    for i in range(0, len(beats), 100):
        answer = Client(server.port, server.agent_token).post("/api/v1/heartbeats", beats[i:i + 100])
        assert {result["status"] for result in answer.json()["results"]} == {"accepted"}, answer
    config = tmp_path / "server.yaml"
    config.write_text('money:\n  tariff: "0.10; 2-3 1.10"\n  time_zone: Europe/Berlin\n')
    told = run(tidewatt, "--period", day[:7], "--format", "json", "--db", f"{server.data}/tidewatt.db", "--config", str(config))
    total = json.loads(told.stdout)["total"]
    assert total["energy_kwh"] == pytest.approx(24) and total["money"]["energy_cost"]["value"] == pytest.approx(24 * 0.10 + hours * 1.00)


def test_wrong_use_is_named(tidewatt):
    for arguments, what in ((["--period", "soon"], "2026-Q4"), (["--period", "2026", "--format", "pdf"], "--format"),
                            (["--period", "2026", "--team", "a", "--scope", "node"], "--team"), (["--period", "2026", "--config", "x"], "--config")):
        assert what in run(tidewatt, *arguments, code=2).stderr
    assert "tidewatt report --period 2026-11" in run(tidewatt, "--help").stdout
