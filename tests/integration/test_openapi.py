"""Answers are what docs/api/openapi.yaml says."""
import os

import jsonschema
import pytest
import yaml

from support.beats import NodeScript
from support.http_client import Client
from support.server import ROOT

with open(os.path.join(ROOT, "docs", "api", "openapi.yaml"), encoding="utf-8") as document:
    SPEC = yaml.safe_load(document)


def validate(schema, value):
    resolver = jsonschema.RefResolver("", SPEC)
    jsonschema.Draft202012Validator(schema, resolver=resolver).validate(value)


def resolved(node):
    while "$ref" in node:
        found = SPEC
        for part in node["$ref"].lstrip("#/").split("/"):
            found = found[part]
        node = found
    return node


def check(answer, method, path):
    responses = SPEC["paths"][path][method]["responses"]
    assert str(answer.status) in responses, (path, answer)
    content = resolved(responses[str(answer.status)]).get("content", {})
    kind = answer.headers.get("content-type", "").split(";")[0]
    if not content:
        assert answer.body == b"" or answer.status == 303, (path, answer)
        return
    assert kind in content, (path, kind, list(content))
    if kind.endswith("json"):
        validate(content[kind]["schema"], answer.json())


@pytest.fixture(scope="module")
def filled(shared_server):
    agent = Client(shared_server.port, shared_server.agent_token)
    script = NodeScript("n1", beats=8, devices=2)
    beats = script.beats()
    del beats[4]["gpu_stats"][1]["power_watts"]
    for beat in beats:
        beat["cpu"] = {"util": 0.4, "cores": 64, "model": "AMD EPYC 9654"}
        beat["rails"] = [{"domain": "cpu_package", "index": 0, "power_watts": 120.5, "source": "rapl"}]
        beat["sources"] = [{"source": "nvidia", "state": "ok"}, {"source": "ipmi", "state": "failed", "reason": "no IPMI: /dev/ipmi0 isn't there"}]
        beat["platform"] = [{"domain": "platform", "power_watts": 1500, "source": "ipmi-dcmi"}]
    shared = NodeScript("n2", beats=8, devices=1)
    for beat in shared.beats():
        beat["gpu_stats"][0]["holders"] = [{"task_id": "a", "compute_share": 0.3, "state": "running"}, {"task_id": "b", "compute_share": 0.2, "state": "running"}]
        beats.append(beat)
    answer = agent.post("/api/v1/heartbeats", beats)
    check(answer, "post", "/api/v1/heartbeats")
    ops = Client(shared_server.port, shared_server.ops_token)
    check(ops.post("/api/v1/tasks", {"task_id": "a", "team": "vision", "kind": "inference", "group_id": "g1"}), "post", "/api/v1/tasks")
    for epoch in range(1, 7):
        check(agent.post("/api/v1/tasks/a/progress", {"epoch": epoch, "epochs_total": 10, "energy_joules_total": 100.0 * epoch}), "post",
              "/api/v1/tasks/{id}/progress")
    request = {"request_id": "r1", "prompt_tokens": 10, "completion_tokens": 5}
    check(agent.post("/api/v1/tasks/a/usage", request), "post", "/api/v1/tasks/{id}/usage")
    check(agent.post("/api/v1/usage", {**request, "task_group_id": "g1"}), "post", "/api/v1/usage")
    check(agent.post("/api/v1/tasks/b/usage", request), "post", "/api/v1/tasks/{id}/usage")
    return shared_server


def test_the_markets_answers_are_what_it_says(shared_server):
    ops = Client(shared_server.port, shared_server.ops_token)
    for key, body in (("a", {"team": "chat"}), ("b", {"team": "ads"}), ("c", {"team": "ads", "month": ops.get("/api/v1/quotas").json()["month"]})):
        check(ops.post("/api/v1/quotas", {"budget_kg": 5, "key": key, **body}), "post", "/api/v1/quotas")
    check(ops.post("/api/v1/quotas/adjustments", {"team": "ads", "change_kg": -1, "reason": "less", "key": "d"}), "post", "/api/v1/quotas/adjustments")
    check(ops.post("/api/v1/quotas/transfers", {"team": "ads", "to": "chat", "amount_kg": 1, "key": "e"}), "post", "/api/v1/quotas/transfers")
    check(ops.post("/api/v1/admission", {"team": "ads", "task_id": "x", "estimate_kg": 1}), "post", "/api/v1/admission")
    check(ops.post("/api/v1/market/money", {"team": "chat", "amount": 10, "key": "f"}), "post", "/api/v1/market/money")
    offer = {"team": "ads", "amount_kg": 2, "price_per_kg": 1.5, "key": "g"}
    for _ in range(2):
        check(ops.post("/api/v1/market/offers", offer), "post", "/api/v1/market/offers")
    check(ops.post("/api/v1/market/bids", {"team": "chat", "amount_kg": 1, "price_per_kg": 2, "key": "h"}), "post", "/api/v1/market/bids")
    for path in ("/api/v1/quotas", "/api/v1/market/offers", "/api/v1/market/bids", "/api/v1/market/trades", "/api/v1/market/history"):
        check(ops.get(path), "get", path)
    trade = ops.get("/api/v1/market/trades").json()["trades"][0]
    assert (trade["seller"], trade["buyer"], trade["amount_kg"], trade["cost"]) == ("ads", "chat", 1, 1.5)


GETS = [("/api/v1/session", "/api/v1/session"), ("/api/v1/nodes", "/api/v1/nodes"), ("/api/v1/nodes?sort=-energy_kwh&limit=1", "/api/v1/nodes"),
        ("/api/v1/nodes/n1", "/api/v1/nodes/{id}"), ("/api/v1/nodes/n1/energy?range=24h", "/api/v1/nodes/{id}/energy"),
        ("/api/v1/nodes/n1/power?range=1h", "/api/v1/nodes/{id}/power"), ("/api/v1/nodes/n1/carbon-rate", "/api/v1/nodes/{id}/carbon-rate"),
        ("/api/v1/nodes/nobody", "/api/v1/nodes/{id}"), ("/api/v1/tasks", "/api/v1/tasks"), ("/api/v1/tasks/a", "/api/v1/tasks/{id}"), ("/api/v1/tasks/a/energy", "/api/v1/tasks/{id}/energy"),
        ("/api/v1/tasks/a/endpoints", "/api/v1/tasks/{id}/endpoints"), ("/api/v1/tasks/a/traces", "/api/v1/tasks/{id}/traces"),
        ("/api/v1/tasks/a/power?range=1h", "/api/v1/tasks/{id}/power"), ("/api/v1/tasks/nobody/energy", "/api/v1/tasks/{id}/energy"),
        ("/api/v1/task-groups/g1/efficiency", "/api/v1/task-groups/{id}/efficiency"),
        ("/api/v1/energy/accounts?scope=node", "/api/v1/energy/accounts"), ("/api/v1/energy/accounts?scope=device&ids=nobody", "/api/v1/energy/accounts"),
        ("/api/v1/energy/accounts?scope=node&ids=n1&id=n2", "/api/v1/energy/accounts"), ("/api/v1/energy/accounts?scope=node&ids=", "/api/v1/energy/accounts"), ("/api/v1/energy/accounts?scope=task_device", "/api/v1/energy/accounts"), ("/api/v1/energy/accounts?scope=nonsense", "/api/v1/energy/accounts"),
        ("/api/v1/energy/export?format=json", "/api/v1/energy/export"), ("/api/v1/energy/export?format=csv", "/api/v1/energy/export"),
        ("/api/v1/energy/export?format=json&limit=2", "/api/v1/energy/export"), ("/api/v1/energy/export?limit=0", "/api/v1/energy/export"),
        ("/api/v1/ledger/seals", "/api/v1/ledger/seals"), ("/api/v1/ledger/verify", "/api/v1/ledger/verify"),
        ("/api/v1/dashboard/stats?range=24h", "/api/v1/dashboard/stats"), ("/api/v1/dashboard/stats?range=soon", "/api/v1/dashboard/stats"),
        ("/api/v1/settings/sources", "/api/v1/settings/sources"), ("/api/v1/settings/coverage", "/api/v1/settings/coverage"), ("/api/v1/factors", "/api/v1/factors"), ("/api/v1/carbon/zones", "/api/v1/carbon/zones"), ("/api/v1/carbon/DE/latest", "/api/v1/carbon/{zone}/latest"), ("/api/v1/carbon/DE/history", "/api/v1/carbon/{zone}/history"), ("/api/v1/carbon/DE/forecast?hours=5", "/api/v1/carbon/{zone}/forecast"), ("/api/v1/tokens", "/api/v1/tokens"), ("/api/v1/carbon-intensity?region=mars", "/api/v1/carbon-intensity"), ("/api/v1/keda/replicas?policy=x", "/api/v1/keda/replicas"),
        ("/api/v1/carbon/accounting?range=24h&simulated=include", "/api/v1/carbon/accounting"),
        ("/api/v1/reports/2026-11?scope=team", "/api/v1/reports/{period}"), ("/api/v1/reports/soon", "/api/v1/reports/{period}"), ("/api/v1/audit", "/api/v1/audit"), ("/api/v1/sign-in", "/api/v1/sign-in"), ("/login/sso", "/login/sso"), ("/login/sso/callback", "/login/sso/callback"), ("/api/v1/quotas", "/api/v1/quotas"), ("/api/v1/market/offers", "/api/v1/market/offers"), ("/api/v1/market/bids", "/api/v1/market/bids"),
        ("/api/v1/market/trades", "/api/v1/market/trades"), ("/api/v1/market/history", "/api/v1/market/history"), ("/healthz", "/healthz"), ("/readyz", "/readyz"), ("/metrics", "/metrics"), ("/api/openapi.json", "/api/openapi.json")]


@pytest.mark.parametrize("target,path", GETS, ids=[g[0] for g in GETS])
def test_answer_is_as_documented(filled, target, path):
    check(Client(filled.port, filled.ops_token).get(target), "get", path)


@pytest.mark.parametrize("target,path", GETS, ids=[g[0] for g in GETS])
def test_refusal_is_as_documented(filled, target, path):
    answer = Client(filled.port).get(target)
    assert answer.status in (200, 401) or target.startswith("/login/sso"), answer
    check(answer, "get", path)


def test_served_document_is_the_one_in_the_repository(filled):
    served = Client(filled.port).get("/api/openapi.json").json()
    assert set(served["paths"]) == set(SPEC["paths"])
    assert served["info"]["version"] == SPEC["info"]["version"]


def test_every_documented_path_is_tried():
    tried = {path for _, path in GETS}
    reads = {path for path, methods in SPEC["paths"].items() if "get" in methods}
    assert reads - tried == {"/login", "/api/v1/stream"}
