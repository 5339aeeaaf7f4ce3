"""`tidewatt doctor` and --check-config: what is missing, by its name, and what to do about it on this machine."""
import json
import os
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from support.agent import Agent
from support.http_client import Client
from support.server import SLOW, clean_environment, free_port


def run(program, *arguments, environment=None):
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=90 * SLOW, env=clean_environment(environment))


def doctor(tidewatt, *arguments, agent="http://127.0.0.1:1"):
    told = run(tidewatt, "doctor", "--json", "--agent", agent, *arguments)
    assert told.stdout, told
    return json.loads(told.stdout)["findings"]


def of(findings, subject):
    return [f for f in findings if f["subject"] == subject]


@pytest.fixture
def token(tmp_path):
    def write(text, name="token"):
        path = tmp_path / name
        path.write_text(text + "\n")
        return str(path)

    return write


def test_tokens_are_told_apart(shared_server, tidewatt, token):
    url = f"http://127.0.0.1:{shared_server.port}"
    (good,) = of(doctor(tidewatt, "--server", url, "--token-file", token(shared_server.ops_token)), "token")
    assert good["state"] == "ok" and "ops" in good["text"], good
    (agents,) = of(doctor(tidewatt, "--server", url, "--token-file", token(shared_server.agent_token)), "token")
    assert agents["state"] == "warn" and "agent's" in agents["text"] and "ops.token" in agents["todo"], agents
    told = run(tidewatt, "energy", "node", "n", "--server", url, "--token-file", token(shared_server.agent_token))
    assert told.returncode == 1 and "agent's token" in told.stderr and "/api/" not in told.stderr, told
    (wrong,) = of(doctor(tidewatt, "--server", url, "--token-file", token("nonsense")), "token")
    assert wrong["state"] == "FAIL" and "doesn't take" in wrong["text"], wrong
    missing = doctor(tidewatt, "--server", url, "--token-file", "/no/such/token")
    assert of(missing, "server")[0]["state"] == "ok", "the server is not to blame"
    assert "/no/such/token" in of(missing, "token")[0]["text"], missing
    (empty,) = of(doctor(tidewatt, "--server", url, "--token-file", token("")), "token")
    assert "is empty" in empty["text"], empty


@pytest.fixture(scope="module")
def tls(tmp_path_factory):
    """A TLS port whose certificate no system knows; .ca is its authority."""
    folder = tmp_path_factory.mktemp("tls")
    key, certificate = str(folder / "key.pem"), str(folder / "cert.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", certificate, "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "3")
            self.end_headers()
            self.wfile.write(b"ok\n")

        def log_message(self, *_):
            pass

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_):
            pass

    server = Quiet(("127.0.0.1", 0), Answer)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1], certificate
    server.shutdown()


def test_the_way_to_a_tls_server_is_explained(tls, shared_server, tidewatt, token):
    port, certificate = tls
    unknown = of(doctor(tidewatt, "--server", f"https://127.0.0.1:{port}"), "server")[0]
    assert unknown["state"] == "FAIL" and "--ca-file" in unknown["todo"], unknown
    plain = of(doctor(tidewatt, "--server", f"http://127.0.0.1:{port}"), "server")[0]
    assert "speaks TLS" in plain["todo"] and f"https://127.0.0.1:{port}" in plain["todo"], plain
    known = of(doctor(tidewatt, "--server", f"https://127.0.0.1:{port}", "--ca-file", certificate), "server")[0]
    assert known["state"] == "ok", known
    stranger = of(doctor(tidewatt, "--server", f"https://127.0.0.1:{port}", "--ca-file", certificate), "server")[-1]
    assert stranger["state"] == "FAIL" and "no Tidewatt server" in stranger["text"], stranger
    other = of(doctor(tidewatt, "--server", f"https://127.0.0.1:{shared_server.port}"), "server")[0]
    assert "speaks plain HTTP" in other["todo"], other
    # The other commands say the same, on one line.
    told = run(tidewatt, "energy", "node", "n", "--server", f"http://127.0.0.1:{port}", "--token-file", token("x"))
    assert told.returncode == 1 and "speaks TLS" in told.stderr and len(told.stderr.strip().splitlines()) == 1, told


def test_each_source_says_why_not_and_it_fits_a_screen(shared_server, tidewatt, token):
    findings = doctor(tidewatt, "--server", f"http://127.0.0.1:{shared_server.port}", "--token-file", token(shared_server.ops_token))
    told = " ".join(f["text"] for f in findings)
    for source in ("nvml", "nvidia-smi", "rapl", "hwmon", "ipmi"):
        assert source in told, (source, told)
    for finding in findings:
        assert len(finding["text"]) < 230 and "\n" not in finding["text"], finding
    assert len(findings) + sum(1 for f in findings if f["todo"]) <= 40, findings


def test_an_agent_tells_its_spool_its_way_and_its_token(server, tidewatt, tmp_path, token):
    good = Agent(tmp_path / "good", f"http://127.0.0.1:{server.port}", server.agent_token, sources="sim:gpus=1,rapl", node_id="good-node")
    bad = Agent(tmp_path / "bad", f"http://127.0.0.1:{server.port}", "nonsense", sources="sim:gpus=1")
    lost = Agent(tmp_path / "lost", f"http://127.0.0.1:{free_port()}", "x", sources="sim:gpus=1",
                 flags=("--relay", "--relay-token-file", token("r", "relay")))
    agents = [good, bad, lost]
    try:
        for agent in agents:
            agent.start()
        client = Client(server.port, server.ops_token)
        ops = token(server.ops_token, "ops")

        def look(agent):
            return doctor(tidewatt, "--server", f"http://127.0.0.1:{server.port}", "--token-file", ops, agent=f"http://127.0.0.1:{agent.port}")

        def wait(agent, metric):
            import time
            deadline = time.monotonic() + 20 * SLOW
            while metric not in _metrics(agent):
                assert time.monotonic() < deadline, agent.log_tail()
                time.sleep(0.1)

        wait(good, 'tidewatt_agent_link{state="delivering"} 1')
        wait(bad, 'tidewatt_agent_link{state="unauthorised"} 1')
        wait(lost, 'tidewatt_agent_link{state="unreachable"} 1')
        told = look(good)
        assert any("delivered" in f["text"] for f in of(told, "agent")), told
        assert of(told, "spool")[0]["state"] == "ok" and "beats wait" in of(told, "spool")[0]["text"], told
        if of(told, "node") and "rapl" in of(told, "node")[0]["text"]:
            assert "gets nothing from rapl" in of(told, "node")[0]["text"], told
        refused = [f for f in of(look(bad), "agent") if f["state"] == "FAIL"]
        assert refused and "refuses this agent's token" in refused[0]["text"] and "--check-config" in refused[0]["todo"], refused
        away = look(lost)
        assert any("can't reach its server" in f["text"] for f in of(away, "agent")), away
        assert of(away, "relay"), away
        # The node's page has the same reasons.
        states = {s["source"]: s for s in client.get_json("/api/v1/nodes/good-node")["source_states"]}
        assert states["sim"]["state"] == "ok" and states["rapl"]["state"] in ("ok", "failed", "absent"), states
        assert states["rapl"]["state"] == "ok" or states["rapl"]["reason"], states
    finally:
        for agent in agents:
            agent.stop()


def _metrics(agent):
    try:
        return agent.get("/metrics")[1]
    except OSError:
        return ""


def test_check_config_fails_for_files_that_are_not_there(tidewatt_agent, tmp_path):
    there = tmp_path / "token"
    there.write_text("x\n")
    spool = ("--spool-dir", str(tmp_path / "spool"))
    good = run(tidewatt_agent, "--check-config", "--server", "http://s", "--token-file", str(there), *spool)
    assert good.returncode == 0, good
    for flag in ("--token-file", "--relay-token-file"):
        bad = run(tidewatt_agent, "--check-config", "--server", "http://s", flag, "/no/such/file")
        assert bad.returncode == 2 and "/no/such/file" in bad.stderr and flag.strip("-").replace("-", "_") in bad.stderr, bad
    there.write_text("\n")
    assert run(tidewatt_agent, "--check-config", "--server", "http://s", "--token-file", str(there)).returncode == 2
    ca = run(tidewatt_agent, "--check-config", "--server", "https://s", "--ca-file", "/no/such/ca")
    assert ca.returncode == 2 and "/no/such/ca" in ca.stderr, ca


def test_check_config_names_all_that_cannot_be_used_at_once(tidewatt_agent, tmp_path):
    (tmp_path / "file").write_text("x\n")
    sources = ["redfish:https://bmc;credentials=/no/bmc;ca=/no/ca", "snmp:pdu;model=apc;community=/no/pdu", "ipmi:tool=/no/ipmitool", "replay:/no/log"]
    told = run(tidewatt_agent, "--check-config", "--sources", ",".join(sources), "--host-root", "/no/host", "--attribution-cgroup-root", "/no/cgroup",
               "--spool-dir", str(tmp_path / "file" / "spool"), "--node-id", "", "--tls-certificate", "/no/cert", "--tls-key", "/no/key")
    assert told.returncode == 2, told
    for name in ("server: is required", "node-id", "token_file: none is given", "/no/bmc", "/no/ca", "/no/pdu", "/no/ipmitool", "/no/log", "/no/host", "/no/cgroup",
                 "spool.dir", "/no/cert", "/no/key"):
        assert name in told.stderr, (name, told.stderr)
    twice = run(tidewatt_agent, "--check-config", "--server", "http://s", "--sources", "tool:npu-smi,tool:npu-smi")
    assert twice.returncode == 2 and "tool:npu-smi stands twice" in twice.stderr, twice


def test_a_secret_that_others_may_read_is_a_warning(tidewatt_agent, token, tmp_path):
    community = token("public", "community")
    os.chmod(community, 0o644)
    own = token("x")
    os.chmod(own, 0o600)
    arguments = ("--check-config", "--server", "http://s", "--token-file", own, "--spool-dir", str(tmp_path / "spool"),
                 "--sources", f"snmp:pdu;model=apc;community={community}")
    told = run(tidewatt_agent, *arguments)
    assert told.returncode == 0 and f"chmod 600 {community}" in told.stderr, told
    os.chmod(community, 0o600)
    assert "chmod" not in run(tidewatt_agent, *arguments).stderr


def test_half_of_what_is_there_is_a_warning_with_something_to_do(tidewatt, shared_server, tmp_path):
    for package in (0, 1):
        zone = tmp_path / f"sys/class/powercap/intel-rapl:{package}"
        zone.mkdir(parents=True)
        (zone / "name").write_text(f"package-{package}\n")
        (zone / "energy_uj").write_text("5\n" if package == 0 else "\n")
    findings = doctor(tidewatt, "--server", f"http://127.0.0.1:{shared_server.port}", "--host-root", str(tmp_path))
    (rapl,) = [f for f in findings if f["text"].startswith("rapl")]
    assert rapl["state"] == "warn" and "1 of 2" in rapl["text"] and rapl["todo"], rapl


@pytest.mark.parametrize("value", ["550", "0", "-1"])
def test_check_config_fails_for_a_factor_that_would_be_ignored(tidewatt, tmp_path, value):
    config = tmp_path / "server.yaml"
    config.write_text(f"energy:\n  emission_factor_kgco2_per_kwh: {value}\n  emission_source: somebody 2025\n")
    told = run(tidewatt, "server", "--check-config", "--config", str(config), "--data", str(tmp_path / "data"))
    assert told.returncode == 2 and value in told.stderr, told
    config.write_text("energy:\n  emission_factor_kgco2_per_kwh: 0.55\n  emission_source: somebody 2025\n")
    assert run(tidewatt, "server", "--check-config", "--config", str(config), "--data", str(tmp_path / "data")).returncode == 0
    by_environment = run(tidewatt, "server", "--check-config", "--data", str(tmp_path / "data"), environment={"ENERGY_GRID_EMISSION_FACTOR": "many"})
    assert by_environment.returncode == 2 and "many" in by_environment.stderr, by_environment
    assert not os.path.exists(tmp_path / "data"), "a check makes nothing"
    missing = run(tidewatt, "server", "--check-config", "--data", str(tmp_path / "data"), "--tls-cert", "/no/cert", "--tls-key", "/no/key")
    assert missing.returncode == 2 and "/no/cert" in missing.stderr and "/no/key" in missing.stderr, missing


def test_power_detect_names_the_files_of_a_library(tidewatt, tmp_path):
    pci = tmp_path / "sys/bus/pci/devices/0000:03:00.0"
    pci.mkdir(parents=True)
    (pci / "vendor").write_text("0x1ed5\n")
    (pci / "class").write_text("0x038000\n")
    told = run(tidewatt, "power", "detect", "--json", "--host-root", str(tmp_path))
    assert told.returncode == 0, told
    mtml = next(s for s in json.loads(told.stdout)["sources"] if s["source"] == "mtml")
    assert not mtml["usable"] and "libmtml.so.2" in mtml["summary"] and "can't be opened" in mtml["summary"], mtml


def test_a_servers_check_config_tells_all_problems_at_once(tidewatt, tmp_path):
    config = tmp_path / "server.yaml"
    config.write_text("listen: nowhere\nworkers: many\ntls: {certificate: /no/cert.pem, key: /no/key.pem}\n"
                      "store_password_file: /no/password\ncarbon: {zones: {DE: \"weather\"}, ca_file: /no/ca.pem}\noidc: {client_id: x}\n")
    told = run(tidewatt, "server", "--config", str(config), "--data", str(tmp_path / "data"), "--check-config")
    assert told.returncode == 2, told
    for named in ("listen", "workers", "/no/cert.pem", "/no/key.pem", "/no/password", "carbon.zones", "/no/ca.pem", "oidc.client_id"):
        assert named in told.stderr, (named, told.stderr)
    assert "terminate" not in told.stderr
