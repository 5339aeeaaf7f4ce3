"""The real agent on a fake node's /proc and /sys, and the real server: energy arrives at tasks, and nothing is lost or made up."""
import os
import statistics
import threading
import time
import urllib.parse

import pytest

from support.agent import Agent, Proxy
from support.http_client import Client
from support.server import SLOW

POD_A = "51b64565-0d3c-4c7e-9f11-2a6b8c9d0e1f"
POD_B = "7c0e1d2f-4455-4c7e-9f11-0123456789ab"


class FakeNode:
    """Two packages of 40 W each and four CPUs: pod A uses 1.2 of them, pod B 0.4, a service 0.2, a cgroup of no known shape 0.2;
    0.4 are nobody's, the rest is idle."""

    PARTS = {f"kubepods/burstable/pod{POD_A}": 1.2, f"kubepods/pod{POD_B}": 0.4, "system.slice/ollama.service": 0.2, "yarn": 0.2}
    BUSY = 2.4

    def __init__(self, folder):
        self.root = str(folder)
        self.gone = set()
        self.stop = threading.Event()
        self.used = {}
        self.write("sys/fs/cgroup/cgroup.controllers", "cpu memory\n")
        self.write("proc/cpuinfo", "model name\t: Fake CPU\n")
        for package in (0, 1):
            zone = f"sys/class/powercap/intel-rapl:{package}"
            self.write(f"{zone}/name", f"package-{package}\n")
            self.write(f"{zone}/max_energy_range_uj", "262143328850\n")
        self.tick(0)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def write(self, path, text):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".new", "w", encoding="ascii") as file:
            file.write(text)
        os.replace(path + ".new", path)

    def tick(self, seconds):
        busy = 1000 + round(seconds * self.BUSY * 100)
        idle = 9000 + round(seconds * (4 - self.BUSY) * 100)
        self.write("proc/stat", f"cpu  {busy} 0 0 {idle} 0 0 0 0 0 0\n" + "".join(f"cpu{i} 1 0 0 1\n" for i in range(4)))
        for path, cpus in self.PARTS.items():
            if path not in self.gone:
                self.write(f"sys/fs/cgroup/{path}/cpu.stat", f"usage_usec {5_000_000 + round(seconds * cpus * 1e6)}\n")
        for package in (0, 1):
            self.write(f"sys/class/powercap/intel-rapl:{package}/energy_uj", f"{(1 + package) * 1_000_000 + round(seconds * 40e6)}\n")

    def run(self):
        begin = time.monotonic()
        while not self.stop.wait(0.02):
            self.tick(time.monotonic() - begin)

    def remove(self, path):
        self.gone.add(path)
        time.sleep(0.1)
        folder = os.path.join(self.root, "sys/fs/cgroup", path)
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)

    def close(self):
        self.stop.set()
        self.thread.join()


@pytest.fixture
def node(tmp_path):
    node = FakeNode(tmp_path / "host")
    yield node
    node.close()


@pytest.fixture
def start(server, node, tmp_path):
    started = []

    def make(*flags):
        proxy = Proxy(lambda: server.port)
        agent = Agent(tmp_path / "agent", proxy.url, server.agent_token, sources="rapl", flags=("--host-root", node.root, *flags))
        agent.start()
        started.append((proxy, agent))
        return proxy, agent

    yield make
    for proxy, agent in started:
        if agent.process.poll() is None:
            agent.stop()
        proxy.close()


def beats_after(proxy, agent, count):
    deadline = time.monotonic() + 60 * SLOW
    while len(proxy.seen) < count:
        assert time.monotonic() < deadline, agent.log_tail()
        time.sleep(0.05)


def accounts(server, scope):
    body = Client(server.port, server.ops_token).get_json(f"/api/v1/energy/accounts?scope={scope}")
    return {a["id"]: a for a in body["accounts"]}


def test_cpu_energy_arrives_at_tasks_and_adds_up(server, node, start):
    proxy, agent = start("--attribution-relabel", "unit/*.service -> service/$1")
    beats_after(proxy, agent, 8)
    assert agent.stop() == 0
    rails = [rail for beat in proxy.beats() for rail in beat.get("rails", []) if rail.get("holders")]
    assert {h["task_id"] for h in rails[-1]["holders"]} == {f"pod/{POD_A}", f"pod/{POD_B}", "service/ollama", "cgroup/yarn"}
    assert {rail["index"] for rail in rails} == {0, 1}, "two packages, not one counter"
    for rail in rails:
        parts = sum(round(h["compute_share"] * 1e9) for h in rail["holders"]) + round(rail["unheld"]["compute_share"] * 1e9)
        assert parts == 1_000_000_000

    tasks = {name: int(a["energy_uj"]) for name, a in accounts(server, "task").items()}
    whole = accounts(server, "node")["agent-node"]
    energy, nobodys = int(whole["energy_uj"]), int(whole["unattributed_uj"])
    assert energy > 0 and sum(tasks.values()) + nobodys == energy
    # In the mean of some seconds the shares are those of the CPU time: 1.2 and 0.4 of 2.4 that were busy.
    told = sum(tasks.values())
    assert tasks[f"pod/{POD_A}"] / told == pytest.approx(1.2 / 2.0, rel=0.1)
    assert tasks[f"pod/{POD_B}"] / told == pytest.approx(0.4 / 2.0, rel=0.1)
    path = urllib.parse.quote(f"pod/{POD_A}", safe="")
    one = Client(server.port, server.ops_token).get_json(f"/api/v1/tasks/{path}/energy?range=24h")
    assert int(one["energy_uj"]) == tasks[f"pod/{POD_A}"]
    assert all(a["attribution"] == "shared_estimated" for a in accounts(server, "task").values())


def test_idle_part_is_kept_out_of_tasks_by_policy(server, node, start):
    proxy, agent = start("--attribution-cpu", "keep_idle")
    beats_after(proxy, agent, 6)
    assert agent.stop() == 0
    unheld = [rail["unheld"] for beat in proxy.beats() for rail in beat.get("rails", []) if rail.get("holders")]
    assert unheld
    assert all(part["idle_share"] <= part["compute_share"] for part in unheld)
    # The fake node isn't written at one instant: a short beat may be far off, the middle one isn't.
    assert statistics.median(part["idle_share"] for part in unheld) == pytest.approx(0.4, abs=0.1)
    assert statistics.median(part["compute_share"] for part in unheld) == pytest.approx(0.5, abs=0.1)


def test_ended_workload_is_never_spread_over_the_others(server, node, start):
    proxy, agent = start()
    beats_after(proxy, agent, 4)
    node.remove(f"kubepods/burstable/pod{POD_A}")
    gone_from = len(proxy.seen) + 1
    beats_after(proxy, agent, gone_from + 4)
    assert agent.stop() == 0
    others, nobodys = [], []
    for rail in (rail for beat in proxy.beats()[gone_from:] for rail in beat["rails"]):
        shares = {h["task_id"]: h["compute_share"] for h in rail.get("holders", [])}
        assert f"pod/{POD_A}" not in shares
        others.append(shares[f"pod/{POD_B}"])
        nobodys.append(rail["unheld"]["compute_share"])
    # The machine is as busy as before (the fake one goes on counting it): that time is nobody's now.
    assert statistics.median(others) == pytest.approx(0.4 / 2.4, abs=0.05)
    assert statistics.median(nobodys) == pytest.approx(1.6 / 2.4, abs=0.1)


def test_cost_and_what_is_unknown_are_told(server, node, start):
    proxy, agent = start()
    beats_after(proxy, agent, 3)
    _, body = agent.get("/metrics")
    values = dict(line.rsplit(" ", 1) for line in body.splitlines() if line.startswith("tidewatt_agent_attribution"))
    assert values["tidewatt_agent_attribution_up"] == "1"
    assert values["tidewatt_agent_attribution_unknown_shapes"] == "1"
    assert values["tidewatt_agent_attribution_late_total"] == "0"
    assert float(values["tidewatt_agent_attribution_look_seconds"]) < 0.5 * SLOW
    assert float(values["tidewatt_agent_attribution_cgroups"]) == 7  # with the folders around them


def test_switched_off_nothing_is_told(server, node, start):
    proxy, agent = start("--attribution-cpu", "off", "--attribution-holders", "off")
    beats_after(proxy, agent, 3)
    assert agent.stop() == 0
    assert not [r for beat in proxy.beats() for r in beat.get("rails", []) if "holders" in r or "unheld" in r]
    assert not accounts(server, "task")
