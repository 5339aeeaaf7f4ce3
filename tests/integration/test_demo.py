"""`tidewatt demo` as ./run starts it."""
import os
import subprocess
import sys

from support.server import ROOT, SLOW, clean_environment


def test_demo_has_data_and_stops_cleanly(tidewatt, tmp_path):
    run = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "demo_once.py"), tidewatt, "demo", "--port", "0", "--nodes", "3",
                          "--data", str(tmp_path / "data")], capture_output=True, text=True, timeout=120 * SLOW, env=clean_environment())
    assert run.returncode == 0, run.stdout + run.stderr
    assert "3 nodes live" in run.stdout, run.stdout
    assert "SIMULATED" in run.stdout, run.stdout


def test_replayed_meter_log_is_booked_exactly(tidewatt, tmp_path):
    log = tmp_path / "meter.csv"
    lines = ["time,watts"] + [f"2026-01-01T00:{i // 60:02d}:{i % 60:02d}Z,{100 + (i * 37) % 300}.5" for i in range(600)]
    log.write_text("\n".join(lines) + "\n")
    run = subprocess.run([tidewatt, "demo", "--port", "0", "--replay", str(log), "--speed", "600", "--once", "--data", str(tmp_path / "data")],
                         capture_output=True, text=True, timeout=60 * SLOW, env=clean_environment())
    assert run.returncode == 0, run.stdout + run.stderr
    exact = sum((100_000 + (i * 37) % 300 * 1000 + 500) * 1000 for i in range(1, 600))
    assert f"exact sum {exact} uJ, ledger {exact} uJ: equal" in run.stdout, run.stdout
