"""tidewatt slurm sync and report without a Slurm: files, stand-ins for sacct, and what is said when something is missing."""
import datetime
import json
import os
import subprocess
import sys

import pytest

from support.server import binary, clean_environment

UTC = datetime.timezone.utc
FIRST = datetime.datetime(2026, 1, 1, tzinfo=UTC)


def run(*words, code=0):
    done = subprocess.run([binary("tidewatt"), "slurm", *words], env=clean_environment(), capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture
def signal(tmp_path):
    """500 g/kWh, 50 in the hours 3 to 9 of the trial."""
    path = tmp_path / "ci.csv"
    rows = [f"{(FIRST + datetime.timedelta(hours=hour)).isoformat()},{50 if 3 <= hour < 9 else 500}" for hour in range(96)]
    path.write_text("time,gco2_per_kwh\n" + "\n".join(rows) + "\n")
    return ["--signal", str(path), "--trial-clock", "2026-01-01T00:00:00Z@1"]


def test_sync_writes_a_table_and_says_what_is_in_it(tmp_path, signal):
    table = tmp_path / "slurm" / "windows.table"
    said = json.loads(run("sync", "--once", "--json", "--table", str(table), "--qos", "low=daily", *signal).stdout)
    of = {(w["tolerance"], w["length_seconds"]): w for w in said["windows"]}
    assert of["daily", 7200]["begin"] == "2026-01-01T03:00:00Z"
    assert of["daily", 7200]["ci_g_per_kwh"] == 50 and of["daily", 7200]["ci_now_g_per_kwh"] == 500
    text = table.read_text()
    assert text.startswith("tidewatt-slurm/1 made=") and text.endswith("end.\n") and "\nqos low daily\n" in text
    assert os.stat(table).st_mode & 0o777 == 0o644  # slurmctld's user reads it
    assert "at once" in run("sync", "--once", "--table", str(table), *signal).stdout


def test_sync_without_a_signal_leaves_the_table(tmp_path, signal):
    table = tmp_path / "windows.table"
    table.write_text("as it was")
    done = run("sync", "--once", "--table", str(table), "--signal", signal[1], code=1)  # today isn't in that file
    assert "no carbon intensity is known for now" in done.stderr and done.stderr.count("\n") == 1
    done = run("sync", "--once", "--table", str(table), "--zone", "DE", "--server", "http://127.0.0.1:1", code=1)
    assert done.stderr.count("\n") == 1
    assert table.read_text() == "as it was"


@pytest.mark.parametrize("words", [("sync", "--once"), ("sync", "--zone", "A", "--signal", "b"), ("sync", "--zone", "A", "--qos", "x"),
                                   ("sync", "--zone", "A", "--valid", "1m"), ("sync", "--zone", "A", "--trial-clock", "x"), ("controller", "--once"),
                                   ("report", "--job", "x"), ("report", "--time-zone", "Nowhere/At"), ()])
def test_wrong_use_is_said(words):
    assert run(*words, code=2).stderr


def stand_in(tmp_path, body):
    """A sacct that answers as told; its rows' fields are parted by what it was asked for."""
    folder = tmp_path / "bin"
    folder.mkdir()
    path = folder / "sacct"
    path.write_text(f"#!{sys.executable}\nimport sys\nmark = [a for a in sys.argv if a.startswith('--delimiter=')][0][12:]\n{body}\n")
    path.chmod(0o755)
    return ["--slurm-bin", str(folder), "--server", "http://127.0.0.1:1"]


def test_report_of_sacct(tmp_path, signal):
    begin = int(datetime.datetime.now(UTC).timestamp()) - 3600
    rows = [["7", "ann", "COMPLETED", begin, begin + 600, begin + 1200, "120"], ["8", "bob\n9", "CANCELLED by 0", begin, "Unknown", begin + 5, ""]]
    flags = stand_in(tmp_path, f"for row in {rows!r}: print(''.join(str(f) + mark for f in row))")
    done = run("report", "--json", *flags)
    jobs = {job["job"]: job for job in json.loads(done.stdout)["jobs"]}
    assert set(jobs) == {"7", "8"}
    assert jobs["7"]["waited_seconds"] == 600 and jobs["7"]["ran_seconds"] == 600 and jobs["7"]["slurm_energy_joules"] == 120
    assert jobs["7"]["energy_uj"] is None and jobs["7"]["saved_g"] is None and jobs["7"]["receipt"] == "energy unknown"
    assert jobs["8"]["waited_seconds"] is None
    assert "energy is unknown" in done.stderr and done.stderr.count("\n") == 1
    text = run("report", *flags).stdout
    assert text.splitlines()[1].count("—") == 3 and "(2 unknown)" in text


@pytest.mark.parametrize("body,said", [("print('7' + mark + 'ann')", "is cut"), ("sys.exit('sacct: error: no slurmdbd\\nsecond line')", "no slurmdbd"),
                                       ("print('x' * (5 << 20))", "sacct")])
def test_sacct_that_fails_is_said_in_one_line(tmp_path, body, said):
    done = run("report", *stand_in(tmp_path, body), code=1)
    assert said in done.stderr and done.stderr.count("\n") == 1


def test_report_of_completions_by_local_time(tmp_path):
    log = tmp_path / "jobcomp"
    log.write_text("JobId=7 UserId=ann(1000) GroupId=a(1) Name=x JobState=COMPLETED Partition=p TimeLimit=1 StartTime=2026-07-01T12:10:00 "
                   "EndTime=2026-07-01T12:20:00 NodeList=n1 NodeCnt=1 ProcCnt=1 WorkDir=/tmp ReservationName= Tres=cpu=1 Account= QOS= WcKey= "
                   "Cluster=unknown SubmitTime=2026-07-01T12:00:00 EligibleTime=2026-07-01T12:00:00 DerivedExitCode=0:0 ExitCode=0:0 \nhalf a li")
    done = run("report", "--json", "--job", "7", "--accounting-file", str(log), "--time-zone", "Europe/Berlin", "--server", "http://127.0.0.1:1")
    said = json.loads(done.stdout)
    assert said["jobs"][0]["submitted"] == "2026-07-01T10:00:00Z" and said["jobs"][0]["waited_seconds"] == 600
    assert said["unreadable"] == 1 and "left out: 1" in done.stderr
