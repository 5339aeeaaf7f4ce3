"""Several servers on one PostgreSQL: a joule is counted once, whichever of them get it."""
import subprocess
import threading
import time

import pytest

from support.beats import NodeScript, chunks
from support.http_client import Client
from support.postgres import Postgres, programs
from test_exact_totals import accounts, node_energy_uj

pytestmark = pytest.mark.skipif(programs() is None, reason="PostgreSQL is not installed: apt-get install postgresql")


@pytest.fixture(scope="module")
def postgres():
    running = Postgres()
    yield running
    running.close()


@pytest.fixture
def two_servers(postgres, make_server):
    # A database of the test's own: servers know no other schema than tidewatt.
    name = f"t{time.monotonic_ns()}"
    subprocess.run(["psql", "-X", "-q", postgres.url, "-c", f"CREATE DATABASE {name}"], check=True)
    url = postgres.url.replace("/postgres?", f"/{name}?")
    first = make_server(flags=["--store", url]).start()
    return [first, make_server(flags=["--store", url]).share_tokens_of(first).start()]


def post_until_booked(server, beats, seen, lock):
    """As an agent: what is answered retry is sent again."""
    client = Client(server.port, server.agent_token)
    for batch in chunks(beats, 25):
        left, deadline = batch, time.monotonic() + 90
        while left:
            assert time.monotonic() < deadline, "beats stay unbooked"
            answer = client.post("/api/v1/heartbeats", left)
            assert answer.status in (200, 503), answer  # 503: not even the token could be looked up
            results = answer.json()["results"] if answer.status == 200 else [{"status": "retry"}] * len(left)
            with lock:
                for result in results:
                    seen[result["status"]] = seen.get(result["status"], 0) + 1
            left = [beat for beat, result in zip(left, results) if result["status"] == "retry"]
            if left:
                time.sleep(0.2)


def test_two_servers_fed_the_same_beats_count_each_once(two_servers):
    scripts = [NodeScript(f"n{i}", beats=50, devices=4, salt=i) for i in range(6)]
    seen, lock = {}, threading.Lock()
    threads = [threading.Thread(target=post_until_booked, args=(server, script.beats(), seen, lock))
               for script in scripts for server in two_servers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen["accepted"] == 6 * 50 and seen["duplicate"] == 6 * 50, seen
    for server in two_servers:
        ops = Client(server.port, server.ops_token)
        for script in scripts:
            assert node_energy_uj(ops, script.node_id) == script.expected_uj()
        tasks = accounts(ops, "task")
        assert sum(int(task["energy_uj"]) for task in tasks.values()) == sum(script.expected_uj() for script in scripts)


def test_a_restart_of_postgres_is_a_retry(postgres, two_servers):
    script = NodeScript("n1", beats=80, devices=2)
    seen, lock = {}, threading.Lock()
    first = threading.Thread(target=post_until_booked, args=(two_servers[0], script.beats(), seen, lock))
    first.start()
    time.sleep(0.1)
    postgres.stop("immediate")
    postgres.start()
    first.join()
    post_until_booked(two_servers[1], script.beats(), seen, lock)
    for server in two_servers:
        assert node_energy_uj(Client(server.port, server.ops_token), "n1") == script.expected_uj()


def test_a_password_is_shown_nowhere(make_server):
    refused = make_server(flags=["--store", "postgresql://tidewatt:hunter2@127.0.0.1:1/db"])
    with pytest.raises(AssertionError):
        refused.start()
    with open(refused.log, encoding="utf-8") as log:
        text = log.read()
    assert "127.0.0.1:1/db" in text and "hunter2" not in text, text
