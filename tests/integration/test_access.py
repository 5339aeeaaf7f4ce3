"""Who may see and do what: tokens, sessions, the one-time link, roles, carbon's visibility."""
import http.client
import time
import urllib.parse

import pytest

from support.beats import NodeScript
from support.http_client import Client
from support.server import SLOW

READS = ("/api/v1/nodes", "/api/v1/tasks", "/api/v1/dashboard/stats", "/api/v1/energy/accounts?scope=node", "/api/v1/nodes/n1",
         "/api/v1/nodes/n1/energy", "/api/v1/nodes/n1/power", "/api/v1/tasks/n1-task-0/energy", "/api/v1/session", "/api/v1/settings/sources",
         "/api/v1/factors", "/api/v1/tokens", "/api/v1/audit", "/api/v1/energy/export?format=json")
OPS_ONLY = ("/api/v1/tokens", "/api/v1/audit", "/api/v1/energy/export?format=json")


@pytest.fixture(scope="module")
def filled(shared_server):
    agent = Client(shared_server.port, shared_server.agent_token)
    agent.post_beats(NodeScript("n1", beats=5).beats())
    ops = Client(shared_server.port, shared_server.ops_token)
    for name, role, team in (("view", "viewer", None), ("vision", "tenant", "vision")):
        body = {"name": name, "role": role, **({"team": team} if team else {})}
        answer = ops.post("/api/v1/tokens", body)
        assert answer.status == 201, answer
        made = answer.json()
        shared_server.tokens[name] = made.get("secret") or made["token"]
    answer = ops.post("/api/v1/tasks", {"task_id": "n1-task-0", "team": "vision", "kind": "training"})
    assert answer.status == 201, answer
    return shared_server


@pytest.mark.parametrize("target", READS)
def test_without_a_token_everything_is_401(filled, target):
    answer = Client(filled.port).get(target)
    assert answer.status == 401, answer
    answer.problem()


@pytest.mark.parametrize("token", ["", "x", "0" * 64, "Bearer", "' OR 1=1 --"])
def test_a_wrong_token_is_401(filled, token):
    answer = Client(filled.port).get("/api/v1/nodes", headers={"Authorization": f"Bearer {token}"})
    assert answer.status == 401, answer


@pytest.mark.parametrize("target", READS)
def test_ops_reads_everything(filled, target):
    assert Client(filled.port, filled.ops_token).get(target).status == 200


@pytest.mark.parametrize("target", OPS_ONLY)
@pytest.mark.parametrize("who", ["view", "vision"])
def test_others_do_not_read_what_is_for_ops(filled, target, who):
    answer = Client(filled.port, filled.tokens[who]).get(target)
    assert answer.status == 403, answer
    answer.problem()


@pytest.mark.parametrize("target", [t for t in READS if "session" not in t])
def test_an_agent_reads_nothing(filled, target):
    assert Client(filled.port, filled.agent_token).get(target).status == 403


@pytest.mark.parametrize("who", ["view", "vision"])
def test_only_agents_post_beats(filled, who):
    answer = Client(filled.port, filled.tokens[who]).post("/api/v1/heartbeats", NodeScript("intruder", beats=1).beats())
    assert answer.status == 403, answer


def test_a_tenant_sees_its_team_only(filled):
    tenant = Client(filled.port, filled.tokens["vision"])
    assert [t["task_id"] for t in tenant.get_json("/api/v1/tasks")["tasks"]] == ["n1-task-0"]
    assert tenant.get("/api/v1/tasks/n1-task-0/energy").status == 200
    assert tenant.get("/api/v1/tasks/n1-task-1/energy").status == 404


def test_carbon_is_hidden_from_all_but_ops_while_no_factor_is_configured(filled):
    ops = Client(filled.port, filled.ops_token).get_json("/api/v1/nodes/n1/energy")
    assert ops["emission_factor"]["configured"] is False
    assert "placeholder_factor" in {n["code"] for n in ops["notes"]}
    viewer = Client(filled.port, filled.tokens["view"]).get_json("/api/v1/nodes/n1/energy")
    assert "carbon_kgco2e" not in viewer and "emission_factor" not in viewer
    assert viewer["carbon_hidden_reason"] == "no_factor_configured"
    assert viewer["energy_uj"] == ops["energy_uj"]


def test_a_configured_factor_is_shown_to_everyone(make_server):
    server = make_server(environment={"ENERGY_GRID_EMISSION_FACTOR": "0.4", "ENERGY_GRID_EMISSION_SOURCE": "test figure 2026"})
    server.start()
    script = NodeScript("n1", beats=3)
    Client(server.port, server.agent_token).post_beats(script.beats())
    ops = Client(server.port, server.ops_token)
    made = ops.post("/api/v1/tokens", {"name": "v", "role": "viewer"}).json()
    body = Client(server.port, made.get("secret") or made["token"]).get_json("/api/v1/nodes/n1/energy")
    assert body["emission_factor"] == {**body["emission_factor"], "value": 0.4, "source": "test figure 2026", "configured": True}
    assert body["carbon_kgco2e"] == pytest.approx(script.expected_uj() / 3.6e12 * 0.4, rel=1e-9)


def test_a_revoked_token_is_refused_at_once(filled):
    ops = Client(filled.port, filled.ops_token)
    made = ops.post("/api/v1/tokens", {"name": "short", "role": "viewer"}).json()
    secret = made.get("secret") or made["token"]
    assert Client(filled.port, secret).get("/api/v1/nodes").status == 200
    listed = ops.get_json("/api/v1/tokens")["tokens"]
    token_id = next(t["id"] for t in listed if t["name"] == "short")
    assert secret not in str(listed)
    assert ops.request("DELETE", f"/api/v1/tokens/{token_id}").status == 204
    assert Client(filled.port, secret).get("/api/v1/nodes").status == 401
    assert any("short" in str(e) or token_id in str(e) for e in ops.get_json("/api/v1/audit")["entries"])


def test_cookie_session_needs_the_csrf_header_for_changes(filled):
    browser = Client(filled.port)
    answer = browser.post("/api/v1/session", {"token": filled.ops_token})
    assert answer.status == 204, answer
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/" in cookie
    assert browser.get("/api/v1/session").status == 200
    body = {"task_id": "t9", "team": "a", "kind": "batch"}
    assert browser.post("/api/v1/tasks", body).status == 403
    assert browser.post("/api/v1/tasks", body, headers={"X-Tidewatt-CSRF": "1"}).status == 201
    assert browser.request("DELETE", "/api/v1/session", headers={"X-Tidewatt-CSRF": "1"}).status == 204
    assert browser.get("/api/v1/session").status == 401


def test_signing_in_with_a_wrong_token_is_401(filled):
    answer = Client(filled.port).post("/api/v1/session", {"token": "nonsense"})
    assert answer.status == 401
    answer.problem()


def follow_once(port, target):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", target)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


def test_login_link_works_once(server):
    link = urllib.parse.urlsplit(server.login_link())
    target = f"{link.path}?{link.query}"
    first = follow_once(server.port, target + "&next=/nodes")
    assert first.status == 303 and first.getheader("Location") == "/nodes"
    cookie = first.getheader("Set-Cookie").split(";", 1)[0]
    assert Client(server.port).get("/api/v1/session", headers={"Cookie": cookie}).json()["role"] == "ops"
    again = follow_once(server.port, target)
    assert again.status == 303 and "error=used" in again.getheader("Location")
    assert not again.getheader("Set-Cookie")


@pytest.mark.parametrize("next_page", ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)"])
def test_login_link_leads_nowhere_else(server, next_page):
    link = urllib.parse.urlsplit(server.login_link())
    answer = follow_once(server.port, f"{link.path}?{link.query}&next={urllib.parse.quote(next_page, safe='')}")
    assert answer.status == 303
    location = answer.getheader("Location")
    assert location.startswith("/") and not location.startswith(("//", "/\\")), location


def test_pages_carry_a_content_security_policy(filled):
    answer = Client(filled.port).get("/")
    assert answer.status in (200, 303), answer
    policy = answer.headers.get("content-security-policy", "")
    assert "default-src 'self'" in policy or "default-src 'none'" in policy, answer.headers
    assert answer.headers.get("x-content-type-options") == "nosniff"


def test_tokens_of_an_earlier_run_work_from_the_first_request(make_server):
    """The memory store forgets tokens, their files don't: agents may hold them."""
    server = make_server(flags=["--store", "memory"])
    server.start()
    agent_token, ops_token = server.agent_token, server.ops_token
    server.stop()
    server.start()
    assert (server.agent_token, server.ops_token) == (agent_token, ops_token)
    assert Client(server.port, ops_token).get("/api/v1/nodes").status == 200
    assert {r["status"] for r in Client(server.port, agent_token).post_beats(NodeScript("n1", beats=2).beats())} == {"accepted"}


def test_a_rotated_token_works_for_its_grace_and_its_successor_beyond(filled):
    ops = Client(filled.port, filled.ops_token)
    made = ops.post("/api/v1/tokens", {"name": "rotating", "role": "tenant", "team": "vision"}).json()
    answer = ops.post(f"/api/v1/tokens/{made['id']}/rotate", {"grace_seconds": 1})
    assert answer.status == 201, answer
    fresh = answer.json()
    assert (fresh["name"], fresh["role"], fresh["team"], fresh["replaces"]) == ("rotating", "tenant", "vision", made["id"])
    assert Client(filled.port, fresh["token"]).get("/api/v1/nodes").status == 200
    deadline = time.monotonic() + 20 * SLOW
    while Client(filled.port, made["token"]).get("/api/v1/nodes").status != 401:
        assert time.monotonic() < deadline, "the old token outlives its grace"
        time.sleep(0.1)
    assert Client(filled.port, fresh["token"]).get("/api/v1/nodes").status == 200
    log = str(ops.get_json("/api/v1/audit"))
    assert "token.rotated" in log and fresh["token"] not in log and made["token"] not in log


def test_failed_sign_ins_are_in_the_audit_log_and_do_not_flood_it(make_server):
    server = make_server()
    server.start()
    ops = Client(server.port, server.ops_token)
    statuses = [Client(server.port).post("/api/v1/session", {"token": f"guess-{i}"}).status for i in range(40)]
    assert set(statuses) == {401, 429}
    failed = [e for e in ops.get_json("/api/v1/audit")["entries"] if e["action"] == "sign_in.failed"]
    assert len(failed) == 1 and "127.0.0.1" in failed[0]["subject"] and "guess" not in str(failed), failed
    metrics = Client(server.port).get("/metrics").body.decode()
    assert f"tidewatt_sign_ins_failed_total {statuses.count(401)}\n" in metrics


def test_a_token_beyond_its_rate_gets_429_and_others_do_not(make_server, tmp_path):
    config = tmp_path / "server.yaml"
    config.write_text("rate_limits: {people_per_second: 2}\n", encoding="ascii")
    server = make_server(flags=["--config", str(config)])
    server.start()
    ops = Client(server.port, server.ops_token)
    other = ops.post("/api/v1/tokens", {"name": "other", "role": "viewer"}).json()["token"]
    answers = [ops.get("/api/v1/session") for _ in range(20)]
    refused = [a for a in answers if a.status == 429]
    assert refused and {a.status for a in answers} == {200, 429}
    assert refused[0].problem()["code"] == "rate_limited" and int(refused[0].headers["retry-after"]) >= 1
    assert Client(server.port, other).get("/api/v1/session").status == 200
