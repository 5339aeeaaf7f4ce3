"""Killed servers, failing stores, slow ends: the sum is the exact integer, or a beat says `retry`."""
import os
import random
import resource
import signal
import threading
import time

from support.beats import NodeScript, chunks
from support.http_client import Client


def total_uj(client, node_id):
    body = client.get_json(f"/api/v1/energy/accounts?scope=node&ids={node_id}&domain=gpu")
    return int(body["sum"]["energy_uj"]) if body["sum"] else None


def test_server_killed_in_the_middle_of_ingest_loses_and_doubles_nothing(server, long_run):
    """What an agent does: a batch is sent until it is answered; `accepted` must survive kill -9."""
    scripts = [NodeScript(f"n{i}", beats=300, devices=2, salt=i) for i in range(3)]
    faults = []

    def agent(script):
        client = Client(server.port, server.agent_token, timeout=10)
        try:
            for batch in chunks(script.beats(), 10):
                deadline = time.monotonic() + 90
                while batch:
                    try:
                        results = client.post_beats(batch)
                    except (OSError, AssertionError) as problem:
                        assert time.monotonic() < deadline, problem
                        client.close()
                        time.sleep(0.05)
                        continue
                    except Exception as problem:
                        # http.client's errors for an answer cut in the middle
                        assert type(problem).__module__.startswith("http"), problem
                        client.close()
                        continue
                    assert not any(r["status"] == "rejected" for r in results), results
                    batch = [b for b, r in zip(batch, results) if r["status"] == "retry"]
        except Exception as problem:
            faults.append(problem)

    threads = [threading.Thread(target=agent, args=(s,)) for s in scripts]
    for thread in threads:
        thread.start()
    order = random.Random(11)
    kills = 0
    while any(t.is_alive() for t in threads) and kills < (30 if long_run else 4):
        time.sleep(order.uniform(0.05, 0.4))
        server.kill()
        kills += 1
        server.start()
    for thread in threads:
        thread.join(120)
    assert not faults, faults[0]
    assert kills > 0
    ops = Client(server.port, server.ops_token)
    for script in scripts:
        assert total_uj(ops, script.node_id) == script.expected_uj(), (script.node_id, kills)


def test_booking_that_fails_is_answered_retry_and_counts_once_later(server):
    """The disk is full for a while: nothing is `accepted`, the node is alive, and the same beats count once afterwards."""
    script = NodeScript("n1", beats=60, devices=4)
    beats = script.beats()
    agent = Client(server.port, server.agent_token, timeout=60)
    assert {r["status"] for r in agent.post_beats(beats[:5])} == {"accepted"}

    server.limit_file_size(1)
    refused = []
    for beat in beats[5:]:
        answer = agent.post("/api/v1/heartbeats", [beat])
        if answer.status == 503:
            refused.append("503")
            continue
        assert answer.status == 200, answer
        refused.append(answer.json()["results"][0]["status"])
    assert "accepted" not in refused, refused
    assert "retry" in refused, refused
    server.assert_alive()
    node = Client(server.port, server.ops_token).get_json("/api/v1/nodes/n1")
    assert node["state"] == "live"

    server.limit_file_size(resource.RLIM_INFINITY)
    deadline = time.monotonic() + 30
    left = beats[5:]
    while left:
        assert time.monotonic() < deadline, "still refused after the disk had room again"
        results = agent.post_beats(left)
        assert not any(r["status"] == "rejected" for r in results), results
        left = [b for b, r in zip(left, results) if r["status"] == "retry"]
    assert total_uj(Client(server.port, server.ops_token), "n1") == script.expected_uj()


def test_server_frozen_for_a_while_answers_everything_afterwards(server):
    script = NodeScript("n1", beats=40)
    agent = Client(server.port, server.agent_token, timeout=30)
    agent.post_beats(script.beats()[:20])
    os.kill(server.pid, signal.SIGSTOP)
    thaw = threading.Timer(2, os.kill, (server.pid, signal.SIGCONT))
    thaw.start()
    assert {r["status"] for r in agent.post_beats(script.beats()[20:])} == {"accepted"}
    thaw.join()
    assert total_uj(Client(server.port, server.ops_token), "n1") == script.expected_uj()


def test_a_power_cut_soon_after_a_nodes_first_beat_leaves_the_node_and_its_zone(server):
    """Its energy is in the journal at once; what it says of itself follows within a second or two."""
    Client(server.port, server.agent_token).post_beats(NodeScript("zl", beats=5).beats())
    time.sleep(4)
    server.kill()
    server.start()
    nodes = Client(server.port, server.ops_token).get_json("/api/v1/nodes")["nodes"]
    assert [(node["node_id"], node["zone"]) for node in nodes] == [("zl", "test")]
