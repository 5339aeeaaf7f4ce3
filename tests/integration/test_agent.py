"""The real agent and the real server, with everything between them going wrong: nothing lost, nothing twice."""
import decimal
import json
import os
import resource
import signal
import subprocess
import time

import pytest

from support.agent import Agent, Proxy
from support.http_client import Client
from support.server import SLOW, clean_environment


@pytest.fixture
def pair(server, tmp_path):
    proxy = Proxy(lambda: server.port)
    agent = Agent(tmp_path / "agent", proxy.url, server.agent_token)
    yield server, proxy, agent
    if agent.process is not None and agent.process.poll() is None:
        agent.stop()
    proxy.close()


def wait_until(condition, seconds, what):
    deadline = time.monotonic() + seconds * SLOW
    while not condition():
        assert time.monotonic() < deadline, what() if callable(what) else what
        time.sleep(0.05)


def accounts(server, scope):
    body = Client(server.port, server.ops_token).get_json(f"/api/v1/energy/accounts?scope={scope}")
    return {(a["id"], a.get("domain") or a["domains"][0]["domain"]): a for a in body["accounts"]}


def booked_samples(server, node):
    body = Client(server.port, server.ops_token).get_json("/api/v1/energy/export?format=json&range=24h&scope=node")
    return sum(row["samples"] for row in body["rows"] if row["id"] == node and row["domain"] == "gpu")


def replayed(tidewatt, beats, folder):
    """What the offline ledger makes of the very same beats."""
    path = os.path.join(folder, "beats.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(beat) + "\n" for beat in beats)
    run = subprocess.run([tidewatt, "ledger", "replay", path, "--json"], capture_output=True, text=True, timeout=60, env=clean_environment())
    assert run.returncode == 0, run.stderr
    out = json.loads(run.stdout)
    assert out["beats"]["accepted"] == len(beats), out["beats"]
    return {(a["scope"], a["id"], a["domain"]): a for a in out["accounts"]}


def exact_device_uj(beats, domain, index):
    """By hand: counters where both beats have one of the same epoch, else mW x ms. None when a power is missing."""
    total, last = 0, None
    for beat in beats:
        for device in beat.get("gpu_stats", []) if domain == "gpu" else beat.get("rails", []):
            if device["index"] != index or device.get("domain", "gpu") != domain or device.get("power_watts") is None:
                continue
            now = beat["monotonic_ms"]
            counter = device.get("energy_joules_total")
            epoch = device.get("counter_epoch")
            milliwatts = int((decimal.Decimal(repr(device["power_watts"])) * 1000).to_integral_value(decimal.ROUND_HALF_EVEN))
            if last is not None:
                if counter is not None and last[1] is not None and epoch == last[2]:
                    total += microjoules(counter) - microjoules(last[1])
                else:
                    total += milliwatts * (now - last[0])
            last = (now, counter, epoch)
    return total


def microjoules(joules):
    return int((decimal.Decimal(repr(joules)) * 1_000_000).to_integral_value(decimal.ROUND_HALF_EVEN))


def check_totals(server, proxy, tidewatt, folder, node="agent-node"):
    beats = proxy.beats()
    assert [b["seq"] for b in beats] == list(range(beats[0]["seq"], beats[0]["seq"] + len(beats))), "a beat was lost"
    wanted = replayed(tidewatt, beats, folder)
    nodes, devices = accounts(server, "node"), accounts(server, "device")
    assert nodes, "nothing is booked"
    for (name, domain), account in nodes.items():
        assert int(account["energy_uj"]) == wanted[("node", name, domain)]["energy_uj"], (name, domain)
    for (name, domain), account in devices.items():
        assert int(account["energy_uj"]) == wanted[("device", name, domain)]["energy_uj"], (name, domain)
    for index in range(4):
        # A card whose simulated sensor fails for the whole minute has no account.
        account = wanted.get(("device", f"{node}/{index}", "gpu"), {"energy_uj": 0})
        assert account["energy_uj"] == exact_device_uj(beats, "gpu", index)
    assert sum(int(a["energy_uj"]) for (_, domain), a in devices.items() if domain == "gpu") == int(nodes[(node, "gpu")]["energy_uj"])


def settled(server, proxy):
    """All that was sent is booked: as many known samples as beats."""
    return lambda: len(proxy.seen) > 0 and booked_samples(server, "agent-node") >= 4 * len(proxy.seen) or booked_beats(server) >= len(proxy.seen)


def booked_beats(server):
    tasks = Client(server.port, server.ops_token).get("/metrics")
    for line in tasks.body.decode().splitlines():
        if line.startswith("tidewatt_beats_total") and 'accepted' in line:
            return float(line.rsplit(" ", 1)[1])
    return -1


def test_lossy_line(pair, tidewatt, tmp_path):
    server, proxy, agent = pair
    proxy.trouble = 0.5
    agent.start()
    wait_until(lambda: len(proxy.seen) >= 8, 60, agent.log_tail)
    proxy.trouble = 0.0
    wait_until(lambda: len(proxy.seen) >= 11, 60, agent.log_tail)
    assert agent.stop() == 0
    assert proxy.sent_again > 0, "the line lost nothing, the test proves nothing"
    check_totals(server, proxy, tidewatt, tmp_path)


def test_server_down_then_up_again(pair, tidewatt, tmp_path):
    server, proxy, agent = pair
    agent.start()
    wait_until(lambda: len(proxy.seen) >= 3, 30, agent.log_tail)
    server.kill()
    time.sleep(4)
    server.start()
    before = len(proxy.seen)
    wait_until(lambda: len(proxy.seen) >= before + 6, 90, agent.log_tail)
    assert agent.stop() == 0
    check_totals(server, proxy, tidewatt, tmp_path)


def test_agent_killed_in_the_middle_sends_its_spool_afterwards(pair, tidewatt, tmp_path):
    """kill -9 while nothing can be delivered: what was spooled comes after the restart, with the same seqs."""
    server, proxy, agent = pair
    agent.start()
    wait_until(lambda: len(proxy.seen) >= 2, 30, agent.log_tail)
    proxy.down = True
    time.sleep(3.5)
    agent.kill()
    proxy.down = False
    agent.start()
    before = len(proxy.seen)
    wait_until(lambda: len(proxy.seen) >= before + 5, 90, agent.log_tail)
    assert agent.stop() == 0
    check_totals(server, proxy, tidewatt, tmp_path)


def test_wrong_token_is_told_and_nothing_is_lost(pair, tidewatt, tmp_path):
    server, proxy, agent = pair
    with open(agent.token_file, "w", encoding="ascii") as file:
        file.write("0" * 64)
    agent.start()
    wait_until(lambda: len(proxy.seen) >= 1, 30, agent.log_tail)
    time.sleep(2)
    assert agent.process.poll() is None
    with open(agent.token_file, "w", encoding="ascii") as file:
        file.write(server.agent_token)
    wait_until(lambda: booked_samples(server, "agent-node") > 0 or accounts(server, "node"), 90, agent.log_tail)
    assert agent.stop() == 0
    check_totals(server, proxy, tidewatt, tmp_path)


def test_second_agent_on_the_same_spool_is_refused(pair):
    _, proxy, agent = pair
    agent.start()
    wait_until(lambda: len(proxy.seen) >= 1, 30, agent.log_tail)
    import subprocess as process
    from support.server import binary
    second = process.run([binary("tidewatt-agent"), *agent.flags, "--listen", "off"], capture_output=True, text=True, timeout=30, env=clean_environment())
    assert second.returncode == 1, second
    assert agent.spool in second.stderr, second.stderr


def test_agent_exposes_health_and_metrics(pair):
    _, proxy, agent = pair
    agent.start()
    wait_until(lambda: len(proxy.seen) >= 2, 30, agent.log_tail)
    status, body = agent.get("/metrics")
    assert status == 200 and "# TYPE" in body
    assert agent.get("/healthz")[0] == 200


def fill_the_disk(agent, proxy):
    """Some beats are in memory alone, for neither disk nor server takes them."""
    wait_until(lambda: len(proxy.seen) >= 2, 30, agent.log_tail)
    proxy.down = True
    agent.limit_file_size(64)
    wait_until(lambda: agent.metric("tidewatt_agent_spool_degraded") == 1 and agent.metric("tidewatt_agent_spool_waiting_beats") >= 3, 30,
               agent.log_tail)


def test_beats_that_a_full_disk_refused_outlive_a_reload(pair):
    _, proxy, agent = pair
    agent.start()
    fill_the_disk(agent, proxy)
    agent.process.send_signal(signal.SIGHUP)
    time.sleep(4)
    agent.limit_file_size(resource.RLIM_INFINITY)
    proxy.down = False
    before = len(proxy.seen)
    wait_until(lambda: len(proxy.seen) >= before + 8, 60, agent.log_tail)
    assert agent.stop() == 0
    beats = proxy.beats()
    assert len({beat["agent_id"] for beat in beats}) == 1
    assert sorted(beat["seq"] for beat in beats) == list(range(1, len(beats) + 1)), "one is missing"


def test_beats_that_a_full_disk_refused_are_counted_when_a_stop_loses_them(pair):
    _, proxy, agent = pair
    agent.start()
    fill_the_disk(agent, proxy)
    assert agent.stop() == 0
    agent.start()
    wait_until(lambda: "spool's disk took nothing" in agent.log_tail() and "new agent id" in agent.log_tail(), 30, agent.log_tail)
    assert agent.metric('tidewatt_agent_beats_dropped_total{reason="memory_full"}') >= 3


def test_once_prints_one_beat(tidewatt_agent, tmp_path):
    run = subprocess.run([tidewatt_agent, "--once", "--node-id", "n", "--sources", "sim:gpus=2", "--spool-dir", str(tmp_path)],
                         capture_output=True, text=True, timeout=30, env=clean_environment())
    assert run.returncode == 0, run.stderr
    beat = json.loads(run.stdout)
    assert beat["node_id"] == "n" and len(beat["gpu_stats"]) == 2
    assert all(d["quality"] == "simulated" for d in beat["gpu_stats"])
