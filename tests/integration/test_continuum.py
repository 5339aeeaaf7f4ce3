"""tidewatt continuum: two real services under load; what is suggested, done, taken back and written down."""
import datetime
import json
import os
import subprocess
import sys
import threading
import time
import urllib.request

import pytest

from support.http_client import Client
from support.server import ROOT, SLOW, Server, clean_environment
from test_carbon_signals import Provider, until

PERIOD = 0.4


class Running:
    """A service's process, and requests to it at a rate."""

    def __init__(self, name, *arguments):
        environment = clean_environment({"PYTHONPATH": os.path.join(ROOT, "python"), "PYTHONDONTWRITEBYTECODE": "1"})
        self.name = name
        self.process = subprocess.Popen([sys.executable, os.path.join(ROOT, "tests/integration/support/devol_service.py"), name, *arguments],
                                        stdout=subprocess.PIPE, text=True, env=environment)
        self.devol, self.work = (int(port) for port in self.process.stdout.readline().split())
        self.rate, self.ended = 8.0, False
        threading.Thread(target=self._load, daemon=True).start()

    def _load(self):
        while not self.ended:
            threading.Thread(target=self._one, daemon=True).start()
            time.sleep(1 / self.rate)

    def _one(self):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.work}/", timeout=10).close()
        except OSError:
            pass

    def workers(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.devol}/devol/v1/state", timeout=10) as answer:
            return json.load(answer)["parameters"]["workers"]

    def close(self):
        self.ended = True
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Agent:
    def __init__(self, tidewatt, folder, service, mode, more="", beside=(), zone=None, arguments=()):
        self.tidewatt, self.journal, self.file, self.signal = tidewatt, folder / "journal.jsonl", folder / "agent.yaml", folder / "signal.csv"
        services = "".join(f'  - {{name: {one.name}, url: "http://127.0.0.1:{one.devol}", load_metric: requests, load_above: [25, 60]}}\n'
                           for one in (service, *beside))
        knobs = "".join(f"  - {{name: {one.name}-workers, kind: devol, target: {one.name}, parameter: workers, levels: [1, 2, 4]}}\n"
                        for one in (service, *beside))
        self.file.write_text(f"""
mode: {mode}
journal: {self.journal}
period: {int(PERIOD * 1000)}ms
{f"zone: {zone}" if zone else f"signal_file: {self.signal}"}
power: {{service: {service.name}, metric: power_w}}
{more}
services:
{services}knobs:
{knobs}""")
        self.process, self.arguments = None, arguments

    def intensity(self, value):
        hour = datetime.datetime.now(datetime.timezone.utc).replace(minute=0, second=0, microsecond=0)
        rows = [f"{(hour + datetime.timedelta(hours=h)).strftime('%Y-%m-%dT%H:%M:%SZ')},{value}" for h in range(-1, 6)]
        fresh = self.signal.with_suffix(".new")
        fresh.write_text("\n".join(["datetime,gco2_per_kwh", *rows]) + "\n")
        fresh.rename(self.signal)

    def start(self):
        self.output = open(self.file.with_suffix(".log"), "w", encoding="utf-8")
        self.process = subprocess.Popen([self.tidewatt, "continuum", "run", "--config", str(self.file), *self.arguments], stdout=self.output,
                                        stderr=subprocess.STDOUT, env=clean_environment())
        return self

    def stop(self):
        self.process.terminate()
        assert self.process.wait(timeout=20 * SLOW) == 0, self.said()
        self.output.close()

    def said(self):
        return self.file.with_suffix(".log").read_text()

    def tell(self, word):
        return subprocess.run([self.tidewatt, "continuum", word, "--config", str(self.file)], capture_output=True, text=True, timeout=20 * SLOW,
                              env=clean_environment(), check=True).stdout

    def decisions(self):
        lines = self.journal.read_text().splitlines() if self.journal.exists() else []
        return [record for record in map(json.loads, lines) if record["k"] == "decision"]

    def until(self, true, what, seconds=12):
        deadline = time.monotonic() + seconds * SLOW
        while not true():
            assert self.process.poll() is None, self.said()
            assert time.monotonic() < deadline, what + "\n" + self.said()
            time.sleep(0.1)


@pytest.fixture
def beside():
    running = Running("blog")
    yield running
    running.close()


@pytest.fixture
def service(request):
    running = Running(*getattr(request, "param", ("shop",)))
    yield running
    running.close()


def explain(agent, record):
    return subprocess.run([agent.tidewatt, "aif", "explain", "-"], input=record, capture_output=True, text=True, timeout=20 * SLOW,
                          env=clean_environment(), check=False)


def test_a_suggestion_waits_for_a_person_and_is_written_down(tidewatt, tmp_path, service):
    agent = Agent(tidewatt, tmp_path, service, "suggest")
    agent.intensity(900)
    agent.start()
    agent.until(lambda: "waits for approval" in agent.said(), "no suggestion")
    assert service.workers() == 4
    agent.until(lambda: json.loads(agent.tell("status"))["suggestion"] is not None, "no suggestion in the status")
    agent.tell("approve")
    agent.until(lambda: service.workers() < 4, "approved, but nothing was set")
    agent.until(lambda: any(d.get("before", {}).get("who") == "person" for d in agent.decisions()), "no record of the person")
    agent.tell("roll-back")
    agent.until(lambda: service.workers() == 4, "not rolled back")
    agent.stop()
    assert "one violated period weighs" in agent.said()

    record = agent.journal.read_text().splitlines()[-1]
    assert len(record) <= 2000
    parsed = json.loads(record)
    assert abs(sum(parsed["terms"].values()) - parsed["G"]) < 1e-12 and len(parsed["why_not"]) == 2
    told = explain(agent, record)
    assert told.returncode == 0 and "replayed bit for bit" in told.stdout and "why not" in told.stdout, told
    place = record.index('"p":') + 4
    told = explain(agent, record[:place] + chr(ord(record[place]) ^ 1) + record[place + 1:])
    assert told.returncode == 1 and ("not as it was written" in told.stderr or "was changed" in told.stderr), told


def test_auto_saves_where_carbon_is_high_gives_back_under_load_and_goes_on_when_cut_off(tidewatt, tmp_path, service, beside):
    agent = Agent(tidewatt, tmp_path, service, "auto", beside=[beside])
    agent.intensity(5)
    agent.start()
    agent.until(lambda: len(agent.decisions()) >= 5, "no decisions")
    assert service.workers() == 4, "clean power is no reason to save"
    agent.intensity(900)
    agent.until(lambda: service.workers() < 4, "a high intensity saves nothing")
    service.rate = 90.0
    agent.until(lambda: service.workers() == 4, "a spike of load gets no workers back")
    agent.until(lambda: all(promise["state"] in ("kept", "close") for promise in json.loads(agent.tell("status"))["objectives"]),
                "a promise stays broken")
    agent.signal.unlink()
    agent.until(lambda: "cut off: carbon signal of" in agent.said(), "it doesn't say that it is cut off")
    before = len(agent.decisions())
    agent.until(lambda: len(agent.decisions()) > before + 2, "it stopped deciding")
    assert agent.decisions()[-1]["cut_off"] and agent.decisions()[-1]["in"]["ci_g_per_kwh"] == 900
    agent.stop()
    # A restart goes on from the journal.
    count = len(agent.decisions())
    agent.start()
    agent.until(lambda: len(agent.decisions()) > count, "no decision after the restart")
    agent.stop()
    assert [d["n"] for d in agent.decisions()] == list(range(len(agent.decisions())))
    assert explain(agent, agent.journal.read_text().splitlines()[-1]).returncode == 0


@pytest.mark.parametrize("service", [("video", "trap")], indirect=True)
def test_a_change_that_breaks_a_promise_is_rolled_back_and_not_repeated(tidewatt, tmp_path, service):
    agent = Agent(tidewatt, tmp_path, service, "auto")
    agent.intensity(900)
    agent.start()
    agent.until(lambda: any(d["by"] == "roll_back" for d in agent.decisions()), "no roll-back")
    agent.until(lambda: service.workers() == 4, "the workers didn't come back")
    agent.stop()
    back = next(d for d in agent.decisions() if d["by"] == "roll_back")
    assert back["broke"] == 0 and back["levels"] == [2]
    broken = back["in"]["levels"]
    assert all(d["levels"] != broken or d["by"] == "guard" for d in agent.decisions() if d["n"] > back["n"])


def test_without_its_server_it_goes_on_with_the_last_signal_and_says_so(tidewatt, tmp_path, service):
    provider = Provider()
    config = tmp_path / "server.yaml"
    config.write_text(f"carbon:\n  zones:\n    DE: electricitymaps url={provider.url}\n")
    server = Server(tmp_path / "data", {"TIDEWATT_ELECTRICITYMAPS_TOKEN": "t"}, ["--config", str(config)]).start()
    try:
        until(Client(server.port, server.ops_token), "/api/v1/carbon/DE/latest", lambda body: body["state"] == "latest")
        agent = Agent(tidewatt, tmp_path, service, "auto", zone="DE",
                      arguments=["--server", f"http://127.0.0.1:{server.port}", "--token-file", str(tmp_path / "data" / "ops.token")]).start()
        agent.until(lambda: any(d["in"]["ci_g_per_kwh"] == 280 for d in agent.decisions()), "the server's signal isn't used")
        assert not any("cut_off" in d for d in agent.decisions())
        server.kill()
        agent.until(lambda: "cut off: carbon signal of" in agent.said(), "it doesn't say that it is cut off")
        before = len(agent.decisions())
        agent.until(lambda: len(agent.decisions()) > before + 2, "it stopped deciding")
        assert agent.decisions()[-1]["cut_off"] and agent.decisions()[-1]["in"]["ci_g_per_kwh"] == 280
        agent.stop()
    finally:
        server.kill()
        provider.server.shutdown()
        provider.server.server_close()


def test_rules_decide_where_they_are_the_policy(tidewatt, tmp_path, service):
    agent = Agent(tidewatt, tmp_path, service, "auto", f"""policy: rules
rules:
  - {{when: ["ci_g_per_kwh > 400 for 1s", "load.{service.name} < 60"], set: {{{service.name}-workers: 2}}}}
""")
    agent.intensity(300)
    agent.start()
    agent.until(lambda: len(agent.decisions()) >= 3, "no decisions")
    assert service.workers() == 4 and {d["by"] for d in agent.decisions()} == {"rules"}
    agent.intensity(500)
    agent.until(lambda: service.workers() == 2, "the rule wasn't followed")
    agent.stop()


@pytest.mark.parametrize("change, said", [
    ("mode: fast", "there are observe, suggest and auto"),
    ("perod: 1s", "is no key"),
    ("period: 1ms", "200ms to 1h"),
])
def test_a_wrong_file_is_one_line_that_says_what_to_write(tidewatt, tmp_path, change, said):
    file = tmp_path / "agent.yaml"
    file.write_text(f"{change}\njournal: {tmp_path}/j\n")
    told = subprocess.run([tidewatt, "continuum", "run", "--config", str(file)], capture_output=True, text=True, timeout=20 * SLOW,
                          env=clean_environment(), check=False)
    assert told.returncode == 1 and said in told.stderr and told.stderr.count("\n") == 1, told
