"""Agents behind an agent, and settings read anew while it runs."""
import signal
import time

import pytest

from support.agent import Agent, Proxy
from support.http_client import Client
from test_agent import check_totals, wait_until

SECRET = "relay-secret"


@pytest.fixture
def chain(server, tmp_path):
    """agent -> proxy -> relay -> server"""
    secret = tmp_path / "relay-token"
    secret.write_text(SECRET + "\n")
    relay = Agent(tmp_path / "relay", f"http://127.0.0.1:{server.port}", server.agent_token, node_id="relay-node", sources="hwmon",
                  flags=["--relay", "--relay-token-file", str(secret)])
    relay.start()
    proxy = Proxy(lambda: relay.port)
    agent = Agent(tmp_path / "agent", proxy.url, SECRET)
    yield server, relay, proxy, agent
    for one in (agent, relay):
        if one.process is not None and one.process.poll() is None:
            one.stop()
    proxy.close()


def test_a_relay_killed_in_the_middle_and_a_server_away_lose_nothing(chain, tidewatt, tmp_path):
    server, relay, proxy, agent = chain
    agent.start()
    wait_until(lambda: len(proxy.seen) >= 3, 60, agent.log_tail)
    server.kill()  # beats wait on the relay's disk from now on
    wait_until(lambda: len(proxy.seen) >= 6, 60, agent.log_tail)
    relay.kill()
    time.sleep(1.5)
    relay.start()
    wait_until(lambda: len(proxy.seen) >= 9, 60, relay.log_tail)
    assert agent.stop() == 0
    server.start()
    last = proxy.beats()[-1]["sampled_at"]
    client = Client(server.port, server.ops_token)
    wait_until(lambda: any(n["node_id"] == "agent-node" and n["last_sample_at"] and n["last_sample_at"][:19] >= last[:19]
                           for n in client.get_json("/api/v1/nodes")["nodes"]), 90, relay.log_tail)
    check_totals(server, proxy, tidewatt, tmp_path)


def test_who_does_not_show_the_relays_token_is_refused_and_keeps_its_beats(chain):
    _, relay, _, agent = chain
    with open(agent.token_file, "w", encoding="ascii") as file:
        file.write("wrong\n")
    agent.start()
    wait_until(lambda: "unauthorised" in agent.log_tail(), 30, agent.log_tail)
    assert "tidewatt_agent_beats_relayed_total 0" in relay.get("/metrics")[1]
    with open(agent.token_file, "w", encoding="ascii") as file:
        file.write(SECRET + "\n")
    wait_until(lambda: "tidewatt_agent_beats_relayed_total 0" not in relay.get("/metrics")[1], 60, agent.log_tail)


def test_settings_are_read_again_on_sighup_unless_they_are_wrong(server, tmp_path):
    config = tmp_path / "agent.yaml"
    config.write_text("zone: DE\n")
    agent = Agent(tmp_path / "agent", f"http://127.0.0.1:{server.port}", server.agent_token, flags=["--config", str(config)]).start()
    client = Client(server.port, server.ops_token)

    def zone():
        return next((n["zone"] for n in client.get_json("/api/v1/nodes")["nodes"]), None)

    try:
        wait_until(lambda: zone() == "DE", 30, agent.log_tail)
        config.write_text("zone: FR\nbeatt: 20s\n")
        agent.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "the old ones hold" in agent.log_tail(), 30, agent.log_tail)
        assert "beatt" in agent.log_tail() and agent.process.poll() is None
        config.write_text("zone: FR\n")
        agent.process.send_signal(signal.SIGHUP)
        wait_until(lambda: zone() == "FR", 60, agent.log_tail)
        assert agent.get("/healthz")[0] == 200
        energy = client.get_json("/api/v1/nodes/agent-node/energy?range=1h")
        assert energy["gap_seconds"] == 0, energy
    finally:
        assert agent.stop() == 0
