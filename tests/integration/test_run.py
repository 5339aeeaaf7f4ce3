"""tidewatt run: a command in clean hours, under a clock that runs 7,200 times as fast. Whatever is killed, it runs once."""
import datetime
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from support.server import clean_environment

BEGIN = datetime.datetime(2026, 1, 1)
CLOCK = "2026-01-01T00:00:00Z@7200"
CLEAN = {2: 50, 5: 60}  # all other hours: 500


@pytest.fixture
def signal_csv(tmp_path):
    path = tmp_path / "signal.csv"
    with open(path, "w", encoding="ascii") as file:
        file.write("start_utc,gco2_per_kwh\n")
        for hour in range(24):
            file.write(f"{(BEGIN + datetime.timedelta(hours=hour)).isoformat()}Z,{CLEAN.get(hour, 500)}\n")
    return path


class Run:
    """A run of a command that appends a line to `starts` when it begins and to `ends` when it is done."""

    def __init__(self, tidewatt, folder, flags, work=0.82, code=0, restartable=False, clock=CLOCK):
        self.tidewatt, self.folder, self.runs = tidewatt, folder, folder / "runs"
        script = folder / "work.py"
        script.write_text(f"""
import os, signal, sys, time
folder = {str(folder)!r}
progress = os.path.join(folder, "progress")
def saved(*_):
    open(os.environ["TIDEWATT_CHECKPOINT_DONE"], "w").close()
signal.signal(signal.SIGUSR1, saved)
if {restartable}:
    def stop(*_):
        sys.exit(75)
    signal.signal(signal.SIGTERM, stop)
open(os.path.join(folder, "starts"), "a").write(str(os.getpid()) + "\\n")
done = float(open(progress).read()) if {restartable} and os.path.exists(progress) else 0.0
while done < {work}:
    time.sleep(0.02)
    done += 0.02
    if {restartable}:
        open(progress + ".new", "w").write(str(done))
        os.rename(progress + ".new", progress)
open(os.path.join(folder, "ends"), "a").write("done\\n")
sys.exit({code})
""", encoding="ascii")
        self.command = [sys.executable, str(script)]
        self.flags = ["--runs", str(self.runs), "--trial-clock", clock, *flags]
        self.front = None

    def start(self, *more):
        self.front = subprocess.Popen([self.tidewatt, "run", *self.flags, *more, "--", *self.command], cwd=self.folder, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment())
        self.until(lambda: self.runs.exists() and any((one / "order.json").exists() for one in self.runs.iterdir()))
        return self

    @property
    def place(self):
        return next(self.runs.iterdir())

    def record(self):
        return json.loads((self.place / "record.json").read_text())

    def until(self, condition, seconds=20):
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, (self.record(), self.front.poll())
            time.sleep(0.02)

    def until_state(self, state):
        self.until(lambda: (self.place / "keeper.pid").exists() and self.record()["state"] == state and self.record()["why"])

    def keeper(self):
        return int((self.place / "keeper.pid").read_text())

    def attach(self, *flags):
        return subprocess.run([self.tidewatt, "run", "--runs", str(self.runs), "--attach", self.place.name, "--json", *flags],
                              capture_output=True, text=True, timeout=60, env=clean_environment())

    def lines(self, name):
        path = self.folder / name
        return len(path.read_text().splitlines()) if path.exists() else 0

    def ran_once(self):
        self.until(lambda: self.record()["state"] == "ended")
        assert (self.lines("starts"), self.lines("ends")) == (1, 1), self.record()


@pytest.fixture
def make(tidewatt, tmp_path, signal_csv):
    runs = []

    def build(flags=("--duration", "100m", "--deadline", "10h", "--pause", "stop", "--min-run", "5m"), **more):
        runs.append(Run(tidewatt, tmp_path, [*flags, "--signal", str(signal_csv)], **more))
        return runs[-1]

    yield build
    for run in runs:
        if run.front is not None and run.front.poll() is None:
            run.front.kill()
        if run.runs.exists():
            try:
                os.kill(run.keeper(), signal.SIGKILL)
                os.killpg(json.loads((run.place / "job.json").read_text())["pid"], signal.SIGKILL)
            except (OSError, ValueError):
                pass


def test_it_runs_in_the_clean_hours_and_tells_the_saving(make):
    run = make().start("--json")
    out, err = run.front.communicate(timeout=60)
    assert run.front.returncode == 0, err
    outcome = json.loads(out)
    assert len(outcome["pieces"]) == 2 and outcome["pauses"] == 1, outcome
    assert outcome["pieces"][0]["begin"].startswith("2026-01-01T02:"), outcome
    assert outcome["pieces"][1]["begin"].startswith(("2026-01-01T04:5", "2026-01-01T05:")), outcome
    assert outcome["baseline_gco2_per_kwh"] > 300 and outcome["mean_gco2_per_kwh"] < 250, outcome
    assert outcome["saving_percent_at_even_power"] > 30
    run.ran_once()


def test_the_exit_code_is_passed_on(make):
    run = make(flags=(), work=0, code=7).start()
    run.front.communicate(timeout=30)
    assert run.front.returncode == 7


def test_without_a_signal_it_just_runs(tidewatt, tmp_path):
    run = Run(tidewatt, tmp_path, ["--duration", "1h", "--deadline", "10h", "--signal", str(tmp_path / "none.csv")], work=0.1).start()
    _, err = run.front.communicate(timeout=30)
    assert run.front.returncode == 0
    assert "runs at once" in err and "none.csv" in err, err
    run.ran_once()


def test_an_earlier_run_tells_how_long_it_takes(make):
    first = make(flags=("--deadline", "10h"), work=0.5).start()
    _, err = first.front.communicate(timeout=30)
    assert "how long it runs isn't known" in err, err
    again = subprocess.Popen([first.tidewatt, "run", *first.flags, "--", *first.command], cwd=first.folder, text=True,
                             stderr=subprocess.PIPE, env=clean_environment())
    _, err = again.communicate(timeout=60)
    assert "planned for 2026-01-01 0" in err, err


@pytest.mark.parametrize("state", ["waiting", "running", "pausing", "paused"])
def test_the_front_end_killed_in_any_state_the_command_runs_once(make, state):
    """kill -9 of what a person started: the keeper follows the last plan by itself."""
    run = make(("--duration", "100m", "--deadline", "10h", "--pause", "stop", "--min-run", "5m", "--checkpoint", "sleep 0.15")).start()
    run.until_state(state)
    run.front.kill()
    run.front.wait()
    attached = run.attach()
    assert attached.returncode == 0, attached.stderr
    run.ran_once()
    assert len(json.loads(attached.stdout)["pieces"]) == 2


@pytest.mark.parametrize("state", ["waiting", "running", "pausing", "paused"])
def test_the_keeper_killed_in_any_state_the_command_runs_once(make, state):
    run = make(("--duration", "100m", "--deadline", "10h", "--pause", "stop", "--min-run", "5m", "--checkpoint", "sleep 0.15")).start()
    run.until_state(state)
    os.kill(run.keeper(), signal.SIGKILL)
    run.front.communicate(timeout=60)
    run.ran_once()


@pytest.mark.parametrize("state", ["running", "paused"])
def test_both_killed_an_attached_run_goes_on(make, state):
    run = make().start()
    run.until_state(state)
    run.front.kill()
    run.front.wait()
    os.kill(run.keeper(), signal.SIGKILL)
    run.attach()
    run.ran_once()


def test_nobody_there_the_latest_start_comes(make):
    """The plan waits for hour 5; the deadline leaves until hour 3; the front end is dead."""
    run = make(("--duration", "1h", "--deadline", "4h", "--pause", "stop", "--min-run", "5m"), work=0.1).start()
    run.until_state("waiting")
    plan = json.loads((run.place / "plan.json").read_text())
    plan["windows"] = [{"begin": "2026-01-01T05:00:00.000Z", "end": "2026-01-01T06:00:00.000Z"}]
    run.front.kill()
    run.front.wait()
    (run.place / "plan.json").write_text(json.dumps(plan))
    run.ran_once()
    assert run.record()["pieces"][0]["begin"].startswith("2026-01-01T03:0"), run.record()


def test_killed_for_a_pause_it_is_started_again(make):
    run = make(("--duration", "100m", "--deadline", "10h", "--pause", "kill", "--min-run", "5m", "--checkpoint", "SIGUSR1"), restartable=True)
    run.start()
    run.front.communicate(timeout=60)
    assert run.front.returncode == 0
    assert (run.lines("starts"), run.lines("ends")) == (2, 1), run.record()


def test_a_signal_is_passed_on_and_a_waiting_run_called_off(make):
    run = make(clock="2026-01-01T00:00:00Z@60").start()
    run.until_state("waiting")
    run.front.send_signal(signal.SIGTERM)
    _, err = run.front.communicate(timeout=30)
    assert run.front.returncode == 128 + signal.SIGTERM, err
    assert run.lines("starts") == 0


def test_wrong_use_is_told(tidewatt, tmp_path):
    def use(*flags):
        return subprocess.run([tidewatt, "run", "--runs", str(tmp_path / "runs"), *flags], capture_output=True, text=True, timeout=30,
                              env=clean_environment())
    for flags, word in ((["--pause", "sleep", "--", "true"], "none, stop, freeze, kill"), (["--duration", "soon", "--", "true"], "duration"),
                        (["--trial-clock", "now", "--", "true"], "trial-clock"), ([], "COMMAND")):
        done = use(*flags)
        assert done.returncode == 2 and word in done.stderr and done.stderr.count("\n") == 1, done
    missing = use("--attach", "../x")
    assert missing.returncode == 1 and "--list" in missing.stderr, missing
    assert json.loads(use("--list", "--json").stdout) == {"runs": []}
