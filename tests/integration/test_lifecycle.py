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


def test_the_same_ledger_by_another_name_is_refused(server, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    os.link(os.path.join(server.data, "tidewatt.db"), other / "tidewatt.db")
    command, environment = Server(other).command(port=0)
    second = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30)
    assert second.returncode == 1 and "by another name" in second.stderr, second
    server.assert_alive()


def test_a_flipped_bit_in_the_write_ahead_log_is_told_everywhere(server, tidewatt):
    agent = Client(server.port, server.agent_token)
    for batch in chunks(NodeScript("n1", beats=30).beats(), 1):
        agent.post_beats(batch)
    server.kill()
    log = os.path.join(server.data, "tidewatt.db-wal")
    with open(log, "r+b") as file:
        file.seek(os.path.getsize(log) // 2)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))
    server.start()
    ready = Client(server.port).get("/readyz")
    assert ready.status == 200 and b"damaged" in ready.body and server.data.encode() not in ready.body, ready
    assert "the write-ahead log is damaged" in server.log_tail()
    ops = Client(server.port, server.ops_token)
    metrics = ops.get("/metrics").body.decode()
    assert "tidewatt_ledger_lost_commits 0\n" not in metrics and "tidewatt_ledger_lost_commits" in metrics
    assert "ledger_damaged" in {alert["kind"] for alert in ops.get_json("/api/v1/dashboard/stats")["alerts"]}
    (kept,) = [name for name in os.listdir(server.data) if "damaged" in name]
    token = os.path.join(server.data, "ops.token")
    told = subprocess.run([tidewatt, "doctor", "--agent", "http://127.0.0.1:1", "--server", f"http://127.0.0.1:{server.port}",
                           "--token-file", token], capture_output=True, text=True, timeout=60)
    assert "acknowledged beats are lost" in told.stdout, told
    os.rename(os.path.join(server.data, kept), os.path.join(server.data, "looked-at"))
    assert ops.get("/readyz").body == b"ready\n"
