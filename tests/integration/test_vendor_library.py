"""A vendor's library in the agent's probe process: whatever it does, the agent lives, the gap is a gap, and it comes back."""
import glob
import os
import re
import signal
import subprocess
import time

import pytest

from support.agent import Agent, Proxy
from support.http_client import Client
from support.server import SLOW

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CARDS = 8
WATTS = 300.0


@pytest.fixture(scope="module")
def library_folder(tmp_path_factory):
    """A stand-in for NVML that needs nothing of ours."""
    folder = tmp_path_factory.mktemp("library")
    source = os.path.join(ROOT, "libs", "sensors", "tests", "fake_nvml.cc")
    subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-shared", "-fPIC", "-pthread", source, "-o",
                    str(folder / "libnvidia-ml.so.1")], check=True, timeout=120 * SLOW)
    return str(folder)


@pytest.fixture
def make_agent(tmp_path, library_folder, server):
    made = []

    def make(name, url=f"http://127.0.0.1:{server.port}"):
        trouble = tmp_path / f"trouble-{name}"
        agent = Agent(tmp_path / name, url, server.agent_token, node_id=name, sources="nvml",
                      environment={"LD_LIBRARY_PATH": library_folder, "FAKE_NVML_CARDS": str(CARDS), "FAKE_NVML_TROUBLE": str(trouble)})
        agent.trouble = trouble
        made.append(agent)
        return agent.start()

    yield make
    for agent in made:
        assert agent.stop() == 0, agent.log_tail()


def children(agent):
    """The probe processes of this agent: zombies aren't any."""
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="ascii", errors="replace") as file:
                text = file.read()
        except OSError:
            continue
        name, rest = text[text.index("(") + 1:text.rindex(")")], text[text.rindex(")") + 2:].split()
        if name == "tidewatt-sensor" and int(rest[1]) == agent.process.pid and rest[0] != "Z":
            found.append(int(path.split("/")[2]))
    assert len(found) <= 1, "never more than one for a library"
    return found


def known_cards(agent):
    _, text = agent.get("/metrics")
    return len(re.findall(r'^tidewatt_agent_device_power_watts\{[^}]*source="nvml"[^}]*\} 300$', text, re.M))


def wait_until(condition, seconds, what):
    deadline = time.monotonic() + seconds * SLOW
    while not condition():
        assert time.monotonic() < deadline, what() if callable(what) else what
        time.sleep(0.05)


def reads_all(agent):
    return lambda: known_cards(agent) == CARDS and len(children(agent)) == 1


def test_killed_probe_is_an_honest_gap(server, make_agent):
    proxy = Proxy(lambda: server.port)
    agent = make_agent("killed", proxy.url)
    wait_until(lambda: agent.port and reads_up(agent), 60, agent.log_tail)
    wait_until(lambda: sum(known(beat) == CARDS for beat in proxy.beats()) >= 3, 30, agent.log_tail)
    pid = children(agent)[0]
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: any(known(beat) == 0 for beat in proxy.beats()[2:]), 30, agent.log_tail)
    assert agent.process.poll() is None
    wait_until(lambda: known(proxy.beats()[-1]) == CARDS and children(agent) not in ([], [pid]), 60, agent.log_tail)
    seen = len(proxy.beats())
    wait_until(lambda: len(proxy.beats()) >= seen + 2, 30, agent.log_tail)
    assert agent.stop() == 0
    beats = proxy.beats()
    proxy.close()
    assert [b["seq"] for b in beats] == list(range(beats[0]["seq"], beats[0]["seq"] + len(beats)))
    epochs = {d["counter_epoch"] for b in beats for d in b["gpu_stats"] if d["index"] == 0 and "counter_epoch" in d}
    assert len(epochs) == 2, "the counter of the next probe is another one"
    gap = [b for b in beats if known(b) == 0]
    assert len(gap) >= 3, "nothing is made up while no probe runs"
    assert all("power" not in d["metrics_available"] for b in gap for d in b["gpu_stats"])
    body = Client(server.port, server.ops_token).get_json("/api/v1/energy/accounts?scope=device")
    accounts = [a for a in body["accounts"] if a["id"].startswith("killed/")]
    assert len(accounts) == CARDS
    for account in accounts:
        # The ledger bridges a minute by power, and says so; the counter's difference isn't taken over two probes.
        assert account["partial_seconds"] >= len(gap) - 2, account
        assert int(account["method"]["counter_uj"]) / 1e6 <= WATTS * (account["covered_seconds"] - account["partial_seconds"] + 1), account


def known(beat):
    return sum("power_watts" in device for device in beat["gpu_stats"])


def reads_up(agent):
    try:
        return reads_all(agent)()
    except OSError:
        return False


def test_whatever_the_library_does_the_agent_lives_and_the_cards_come_back(make_agent):
    agents = {what: make_agent(what) for what in ("segv", "abort", "exit", "hang", "print")}
    for agent in agents.values():
        wait_until(lambda agent=agent: reads_up(agent), 60, agent.log_tail)
    before = {what: children(agent) for what, agent in agents.items()}
    for what, agent in agents.items():
        agent.trouble.write_text(what + "\n", encoding="ascii")
    for what, agent in agents.items():
        if what == "print":
            continue
        wait_until(lambda agent=agent: known_cards(agent) == 0, 30, agent.log_tail)
        wait_until(lambda agent=agent, what=what: children(agent) != before[what], 30, agent.log_tail)
    assert known_cards(agents["print"]) == CARDS and children(agents["print"]) == before["print"], "its output goes nowhere"
    for agent in agents.values():
        assert agent.process.poll() is None
        agent.trouble.unlink()
    for agent in agents.values():
        wait_until(reads_all(agent), 90, agent.log_tail)
    for what, words in (("segv", "killed by signal 11"), ("abort", "killed by signal 6"), ("exit", "ended with exit code 3"),
                        ("hang", "no answer within 5000 ms, killed")):
        with open(agents[what].log, encoding="utf-8") as log:
            assert words in log.read(), what


def test_the_probe_ends_with_its_agent(make_agent):
    agent = make_agent("orphan")
    wait_until(lambda: reads_up(agent), 60, agent.log_tail)
    pid = children(agent)[0]
    agent.trouble.write_text("hang\n", encoding="ascii")
    time.sleep(0.5)
    agent.kill()
    wait_until(lambda: not os.path.exists(f"/proc/{pid}") or " Z " in open(f"/proc/{pid}/stat", encoding="ascii").read(), 10,
               "the probe outlives its agent")
    agent.trouble.unlink()
    agent.start()
    wait_until(lambda: reads_up(agent), 60, agent.log_tail)
