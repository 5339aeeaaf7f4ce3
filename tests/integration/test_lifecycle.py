"""Start, stop, drain; one server per data folder; configuration that is wrong."""
import os
import signal
import subprocess
import threading
import time

from support.beats import NodeScript, chunks
from support.http_client import Client
from support.server import Server


def test_health_and_readiness(server):
    client = Client(server.port)
    assert client.get("/healthz").body.strip() == b"ok"
    assert client.get("/readyz").status == 200


def test_unknown_paths_and_methods_are_problems(server):
    client = Client(server.port, server.ops_token)
    assert client.get("/api/v1/nonsense").status == 404
    client.get("/api/v1/nonsense").problem()
    answer = client.request("DELETE", "/api/v1/nodes")
    assert answer.status == 405, answer
    answer.problem()


def test_sigterm_drains_and_exits_0(server):
    """Whatever was answered `accepted` before the stop is there after it; what was not answered may be sent again."""
    script = NodeScript("n1", beats=400, devices=2)
    sent = {"beats": 0}
    done = threading.Event()

    def post():
        agent = Client(server.port, server.agent_token, timeout=20)
        try:
            for batch in chunks(script.beats(), 5):
                results = agent.post_beats(batch)
                sent["beats"] += sum(r["status"] == "accepted" for r in results)
        except Exception:
            pass
        done.set()

    thread = threading.Thread(target=post)
    thread.start()
    time.sleep(0.3)
    code = server.stop(signal.SIGTERM)
    assert code == 0, code
    done.wait(30)
    thread.join()
    assert 0 < sent["beats"] <= script.count
    server.start()
    agent = Client(server.port, server.agent_token)
    results = []
    for batch in chunks(script.beats(), 100):
        results += agent.post_beats(batch)
    assert sum(r["status"] == "duplicate" for r in results) >= sent["beats"]
    assert not any(r["status"] in ("rejected", "retry") for r in results)
    body = Client(server.port, server.ops_token).get_json("/api/v1/energy/accounts?scope=node&ids=n1")
    assert int(body["sum"]["energy_uj"]) == script.expected_uj()


def test_sigint_stops_too(server):
    assert server.stop(signal.SIGINT) in (0, 130)


def test_second_server_on_the_same_data_folder_is_refused(server, tmp_path):
    command, environment = server.command(port=0)
    second = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30)
    assert second.returncode == 1, second
    said = [line for line in second.stderr.splitlines() if line.strip()]
    assert said and str(server.data) in second.stderr, second.stderr
    server.assert_alive()
    script = NodeScript("n1", beats=3)
    assert {r["status"] for r in Client(server.port, server.agent_token).post_beats(script.beats())} == {"accepted"}


def test_port_in_use_is_told(server, tmp_path):
    other = Server(tmp_path / "other")
    command, environment = other.command(port=server.port)
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30)
    assert run.returncode == 1, run
    assert str(server.port) in run.stderr, run.stderr
    other.finish()


def test_after_kill_9_the_next_start_needs_no_help(server):
    script = NodeScript("n1", beats=10)
    Client(server.port, server.agent_token).post_beats(script.beats())
    server.kill()
    server.start()
    body = Client(server.port, server.ops_token).get_json("/api/v1/energy/accounts?scope=node&ids=n1")
    assert int(body["sum"]["energy_uj"]) == script.expected_uj()


def test_a_ledger_that_vanished_beside_its_tokens_is_said_at_the_start(server):
    assert "begins empty" not in server.log_tail()
    server.stop()
    os.unlink(os.path.join(server.data, "tidewatt.db"))
    server.start()
    assert "begins empty" in server.log_tail()
