"""Live carbon intensity against a provider on loopback: served, counted, broken and repaired."""
import concurrent.futures
import datetime
import http.server
import json
import subprocess
import threading
import time

import pytest

from support.http_client import Client
from support.server import SLOW, Server, binary, clean_environment


class Provider:
    """Answers like Electricity Maps; `status` other than 200 breaks it."""

    def __init__(self):
        self.status, self.asked, self.zone = 200, [], "DE"
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.asked.append(self.path)
                body = outer.body(self.path) if outer.status == 200 else b"Internal Server Error"
                self.send_response(outer.status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def body(self, path):
        hour = datetime.datetime.now(datetime.timezone.utc).replace(minute=0, second=0, microsecond=0)

        def row(offset, value):
            at = (hour + datetime.timedelta(hours=offset)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
            return {"zone": self.zone, "carbonIntensity": value, "datetime": at, "isEstimated": False, "emissionFactorType": "lifecycle"}

        if "/history" in path:
            answer = {"zone": self.zone, "history": [row(-back, 300 + back) for back in range(24, 0, -1)]}
        elif "/forecast" in path:
            answer = {"zone": self.zone, "forecast": [row(ahead, 350) for ahead in range(72)]}
        else:
            answer = row(0, 280)
        return json.dumps(answer).encode()

    def times(self, part):
        return sum(part in path for path in self.asked)


@pytest.fixture
def provider():
    made = Provider()
    yield made
    made.server.shutdown()
    made.server.server_close()


def start(tmp_path, zones):
    config = tmp_path / "server.yaml"
    config.write_text("rate_limits:\n  people_per_second: 0\ncarbon:\n  zones:\n" + "".join(f"    {zone}: {chain}\n" for zone, chain in zones.items()))
    return Server(tmp_path / "data", {"TIDEWATT_ELECTRICITYMAPS_TOKEN": "t"}, ["--config", str(config)]).start()


def until(client, path, wanted):
    deadline = time.monotonic() + 15 * SLOW
    while True:
        answer = client.get(path)
        if answer.status == 200 and wanted(answer.json()):
            return answer.json()
        assert time.monotonic() < deadline, answer
        time.sleep(0.1)


def test_a_thousand_askers_cause_one_question_upstream(tmp_path, provider):
    server = start(tmp_path, {"DE": f"electricitymaps url={provider.url}"})
    try:
        client = Client(server.port, server.ops_token)
        got = until(client, "/api/v1/carbon/DE/latest", lambda body: body["state"] == "latest")
        assert got["point"]["gco2_per_kwh"] == 280 and got["quality"] == "measured" and got["degraded_reason"] is None
        hour = got["point"]["start"]

        def ask(_):
            own = Client(server.port, server.ops_token)
            answers = [own.get("/api/v1/carbon/DE/latest").status for _ in range(50)]
            own.close()
            return answers

        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            answers = [status for part in pool.map(ask, range(20)) for status in part]
        assert answers == [200] * 1000
        if client.get("/api/v1/carbon/DE/latest").json()["point"]["start"] == hour:
            assert provider.times("/latest") == 1, provider.asked
        assert len(client.get("/api/v1/carbon/DE/forecast?hours=24").json()["forecast"]) >= 23
        assert len(client.get("/api/v1/carbon/DE/history?range=24h").json()["history"]) >= 23
        assert 'tidewatt_carbon_chain_step{zone="DE",step="latest"} 1' in client.get("/metrics").body.decode()
    finally:
        server.finish()


def test_a_provider_that_answers_for_another_zone_gives_no_number_and_an_alert(tmp_path, provider):
    provider.zone = "ES"
    server = start(tmp_path, {"DE": f"electricitymaps url={provider.url}"})
    try:
        client = Client(server.port, server.ops_token)
        got = until(client, "/api/v1/carbon/DE/latest", lambda body: "wrong_zone" in (body["degraded_reason"] or ""))
        assert got["state"] == "off" and got["point"] is None
        alerts = client.get("/api/v1/dashboard/stats").json()["alerts"]
        assert [(alert["kind"], alert["subject"]) for alert in alerts] == [("carbon_off", "DE")]
    finally:
        server.finish()


def test_the_next_provider_stands_in_and_a_peer_takes_it_from_there(tmp_path, provider):
    provider.status = 500
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    first = start(tmp_path / "first", {"DE": f"electricitymaps url={provider.url}, static g=380 boundary=life_cycle basis=consumption"})
    second = None
    try:
        client = Client(first.port, first.ops_token)
        got = until(client, "/api/v1/carbon/DE/latest", lambda body: body["state"] == "latest")
        assert got["quality"] == "static" and got["point"]["gco2_per_kwh"] == 380
        config = tmp_path / "second" / "server.yaml"
        config.write_text(f"carbon:\n  zones:\n    HERE: peer url=http://127.0.0.1:{first.port} zone=DE boundary=life_cycle basis=consumption\n")
        second = Server(tmp_path / "second" / "data", {"TIDEWATT_PEER_TOKEN": first.ops_token}, ["--config", str(config)]).start()
        theirs = until(Client(second.port, second.ops_token), "/api/v1/carbon/HERE/latest", lambda body: body["state"] == "latest")
        assert theirs["point"]["gco2_per_kwh"] == 380 and theirs["point"]["provider"] == "peer"
    finally:
        first.finish()
        if second:
            second.finish()


@pytest.mark.parametrize("chain,said", [
    ("electricitymaps, watttime", "another series"),
    ("electricitymap", 'unknown provider "electricitymap"'),
    ("watttime", "carbon.watttime_user: is missing"),
    ("onsite file=/x grid=FR", "no other zone"),
])
def test_a_chain_that_cannot_be_is_refused_at_the_start(tmp_path, chain, said):
    config = tmp_path / "server.yaml"
    config.write_text(f"carbon:\n  zones:\n    DE: {chain}\n")
    told = subprocess.run([binary("tidewatt"), "server", "--config", str(config), "--check-config"], capture_output=True, text=True, timeout=60,
                          check=False, env=clean_environment({"TIDEWATT_ELECTRICITYMAPS_TOKEN": "t"}))
    assert told.returncode != 0 and said in told.stderr + told.stdout, told
