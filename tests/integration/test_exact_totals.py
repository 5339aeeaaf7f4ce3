"""A joule is counted once, whatever is repeated, interleaved or restarted."""
import random
import threading

from support.beats import NodeScript, chunks
from support.http_client import Client


def node_energy_uj(client, node_id):
    """The node's lifetime account, an exact integer."""
    body = client.get_json(f"/api/v1/energy/accounts?scope=node&ids={node_id}&domain=gpu")
    assert body["rows"] == 1, body
    assert body["sum"]["energy_uj"] == body["accounts"][0]["energy_uj"]
    return int(body["sum"]["energy_uj"])


def accounts(client, scope, domain="gpu"):
    body = client.get_json(f"/api/v1/energy/accounts?scope={scope}&domain={domain}")
    return {a["id"]: a for a in body["accounts"]}


def test_sum_is_the_exact_integer(server):
    script = NodeScript("n1", beats=120, devices=8)
    agent = Client(server.port, server.agent_token)
    for batch in chunks(script.beats(), 50):
        assert {r["status"] for r in agent.post_beats(batch)} == {"accepted"}
    ops = Client(server.port, server.ops_token)
    assert node_energy_uj(ops, "n1") == script.expected_uj()


def test_devices_and_tasks_add_up_to_the_node(server):
    script = NodeScript("n1", beats=40, devices=4)
    free = NodeScript("n2", beats=40, devices=3, task=False)
    agent = Client(server.port, server.agent_token)
    agent.post_beats(script.beats() + free.beats())
    ops = Client(server.port, server.ops_token)
    devices = accounts(ops, "device")
    for d in range(4):
        assert int(devices[f"n1/{d}"]["energy_uj"]) == script.expected_device_uj(d)
    tasks = accounts(ops, "task")
    nodes = accounts(ops, "node")
    assert sum(int(t["energy_uj"]) for t in tasks.values()) == script.expected_uj()
    assert int(nodes["n1"]["unattributed_uj"]) == 0
    assert int(nodes["n2"]["unattributed_uj"]) == free.expected_uj() == int(nodes["n2"]["energy_uj"])


def test_repeated_batches_are_duplicates(server):
    script = NodeScript("n1", beats=30)
    agent = Client(server.port, server.agent_token)
    agent.post_beats(script.beats())
    for _ in range(3):
        assert {r["status"] for r in agent.post_beats(script.beats())} == {"duplicate"}
    assert node_energy_uj(Client(server.port, server.ops_token), "n1") == script.expected_uj()


def test_eight_clients_with_the_same_beats_count_each_once(server, long_run):
    scripts = [NodeScript(f"n{i}", beats=60 if not long_run else 600, devices=3, salt=i) for i in range(6)]
    accepted, faults = [0], []
    lock = threading.Lock()

    def client(seed):
        try:
            order = random.Random(seed)
            agent = Client(server.port, server.agent_token, timeout=120)
            left = {s.node_id: s.beats() for s in scripts}
            while left:
                # Each node's beats in order; which nodes share a request, and how many beats of each, is up to chance.
                body = []
                for node in order.sample(sorted(left), order.randint(1, len(left))):
                    take = order.randint(1, 7)
                    body += left[node][:take]
                    left[node] = left[node][take:]
                    if not left[node]:
                        del left[node]
                results = agent.post_beats(body)
                # `retry` may come when another client was faster; the agent's answer to it is to send again.
                while any(r["status"] == "retry" for r in results):
                    with lock:
                        accepted[0] += sum(r["status"] == "accepted" for r in results)
                    body = [b for b, r in zip(body, results) if r["status"] == "retry"]
                    results = agent.post_beats(body)
                assert not any(r["status"] == "rejected" for r in results), results
                with lock:
                    accepted[0] += sum(r["status"] == "accepted" for r in results)
        except Exception as problem:
            faults.append(problem)

    threads = [threading.Thread(target=client, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults, faults[0]
    assert accepted[0] == sum(s.count for s in scripts)
    ops = Client(server.port, server.ops_token)
    for script in scripts:
        assert node_energy_uj(ops, script.node_id) == script.expected_uj(), script.node_id


def test_restart_keeps_totals_and_goes_on(server):
    script = NodeScript("n1", beats=50)
    beats = script.beats()
    Client(server.port, server.agent_token).post_beats(beats[:25])
    server.stop()
    server.start()
    ops = Client(server.port, server.ops_token)
    assert node_energy_uj(ops, "n1") == script.expected_uj(25)
    agent = Client(server.port, server.agent_token)
    assert {r["status"] for r in agent.post_beats(beats[:25])} == {"duplicate"}
    assert {r["status"] for r in agent.post_beats(beats[25:])} == {"accepted"}
    assert node_energy_uj(ops, "n1") == script.expected_uj()


def test_counter_covers_an_outage_without_a_gap(server):
    """Two beats an hour apart with the same hardware counter: the counter's difference is the energy, no gap."""
    script = NodeScript("n1", beats=2, devices=1, period_ms=3_600_000)
    beats = script.beats()
    for beat, joules in zip(beats, (1000.000001, 901_234.567891)):
        beat["gpu_stats"][0].update(energy_joules_total=joules, counter_epoch="d1", power_limit_watts=700)
    Client(server.port, server.agent_token).post_beats(beats)
    body = Client(server.port, server.ops_token).get_json("/api/v1/energy/accounts?scope=node&ids=n1&domain=gpu")
    account = body["accounts"][0]
    assert int(account["energy_uj"]) == 900_234_567_890
    assert int(account["method"]["counter_uj"]) == 900_234_567_890
    assert account["gap_seconds"] == 0
    assert account["covered_seconds"] == 3600


def test_gap_without_counter_is_not_filled(server):
    script = NodeScript("n1", beats=2, devices=1, period_ms=600_000)
    Client(server.port, server.agent_token).post_beats(script.beats())
    body = Client(server.port, server.ops_token).get_json("/api/v1/energy/accounts?scope=node&ids=n1&domain=gpu")
    account = body["accounts"][0]
    assert int(account["energy_uj"]) == script.milliwatts(1, 0) * 60_000
    assert account["gap_seconds"] == 540


def test_unknown_power_is_null_and_not_zero(server):
    script = NodeScript("n1", beats=3, devices=1)
    beats = script.beats()
    for beat in beats:
        del beat["gpu_stats"][0]["power_watts"]
    assert {r["status"] for r in Client(server.port, server.agent_token).post_beats(beats)} == {"accepted"}
    ops = Client(server.port, server.ops_token)
    body = ops.get_json("/api/v1/energy/accounts?scope=node&ids=n1")
    assert body["rows"] == 0 and body["sum"] is None
    node = ops.get_json("/api/v1/nodes/n1")
    assert node["power_watts"] is None
    assert node["devices"][0]["power_watts"] is None
    assert ops.get_json("/api/v1/nodes/n1/energy?range=24h")["energy_kwh"] is None
