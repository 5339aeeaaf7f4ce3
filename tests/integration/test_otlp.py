"""An instrumented service sends its spans to a real server: what its requests used and what nobody used is the task's energy, exactly."""
import gzip
import http.client
import http.server
import threading
import time

from support import otlp
from support.beats import NodeScript, now_ms
from support.http_client import Client

PROTOBUF = {"Content-Type": "application/x-protobuf"}
JSON = {"Content-Type": "application/json"}


class Shop:
    """Two routes; each request is a span with a query as its child."""

    def __init__(self):
        self.spans = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # noqa: N802
                route = "/users/{id}" if self.path.startswith("/users/") else self.path
                with outer.span("GET", None, otlp.SERVER, {"http.route": route, "http.request.method": "GET"}) as request:
                    time.sleep(0.02)
                    with outer.span("query", request):
                        time.sleep(0.06 if route == "/cart" else 0.03)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def span(self, *args):
        outer = self

        class Scope:
            def __enter__(self):
                self.span = otlp.Span(*args)
                return self.span

            def __exit__(self, *error):
                outer.spans.append(self.span.end())

        return Scope()

    def get(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_address[1], timeout=10)
        connection.request("GET", path)
        assert connection.getresponse().status == 204
        connection.close()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def largest_remainder(amount, weights):
    total = sum(weights) or len(weights)
    weights = weights if sum(weights) else [1] * len(weights)
    parts = [amount * w // total for w in weights]
    for i in sorted(range(len(weights)), key=lambda i: (-(amount * weights[i] % total), i))[:amount - sum(parts)]:
        parts[i] += 1
    return parts


def covered(ranges, begin, end):
    """Length of [begin, end) that some range covers."""
    length, until = 0, begin
    for b, e in sorted(ranges):
        b, e = max(b, until), min(e, end)
        if b < e:
            length, until = length + e - b, e
    return length


def reference(spans, intervals):
    """docs/method/traces.md once more, in another language: microjoules by route, and of no span."""
    by_id = {s.id: s for s in spans}
    routes, no_span = {}, 0
    for begin, end, energy in intervals:
        active = sorted((s for s in spans if s.begin < end and s.stop > begin), key=lambda s: (s.begin, s.trace, int.from_bytes(s.id, "big")))
        busy = covered([(s.begin, s.stop) for s in active], begin, end)
        if not busy:
            no_span += energy
            continue
        energy_busy, idle = largest_remainder(energy, [busy, end - begin - busy])
        no_span += idle
        own = []
        for s in active:
            b, e = max(begin, s.begin), min(end, s.stop)
            own.append(e - b - covered([(c.begin, c.stop) for c in active if c.parent == s.id], b, e))
        for s, share in zip(active, largest_remainder(energy_busy, own)):
            entry = by_id.get(s.parent, s)
            routes[entry.route] = routes.get(entry.route, 0) + share
    return routes, no_span


def post(client, body, headers):
    answer = client.request("POST", "/v1/traces", body, headers)
    assert answer.status == 200, answer
    return answer


def test_spans_and_no_span_are_the_tasks_energy_of_each_interval(server):
    agent, ops = Client(server.port, server.agent_token), Client(server.port, server.ops_token)
    script = NodeScript("n1", beats=16, devices=1, start_ms=now_ms() - 1_000, period_ms=500)
    beats = script.beats()
    task = script.task_id(0)
    resource = {"service.name": "shop", "tidewatt.task_id": task}
    shop = Shop()
    try:
        shop.get("/warm-up")
        assert post(agent, otlp.protobuf(resource, shop.spans), PROTOBUF).body == b""
        agent.post("/api/v1/heartbeats", beats[:2])  # a device's first interval is left out
        # From here on the meter's intervals cover what the shop does.
        while now_ms() < script.start_ms + 2 * script.period_ms:
            time.sleep(0.01)
        callers = [threading.Thread(target=lambda path=path: [shop.get(path) for _ in range(8)]) for path in ("/users/7", "/users/8", "/cart")]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
    finally:
        shop.close()
    spans = shop.spans[2:]
    assert len(spans) == 48
    for i, span in enumerate(spans):  # in either encoding, packed or not, and each one twice
        for _ in range(2):
            if i % 2:
                assert post(agent, otlp.as_json(resource, [span]), JSON).body == b"{}"
            else:
                assert post(agent, gzip.compress(otlp.protobuf(resource, [span])), {**PROTOBUF, "Content-Encoding": "gzip"}).body == b""
    agent.post("/api/v1/heartbeats", beats[2:])
    assert max(s.stop for s in spans) < (script.start_ms + 15 * script.period_ms) * 1_000_000, "the script is too short for this machine"

    answer = ops.get(f"/api/v1/tasks/{task}/endpoints").json()
    first = script.milliwatts(1, 0) * script.period_ms
    assert int(answer["energy_uj"]) == script.expected_uj()
    assert int(answer["not_observed_energy_uj"]) == first
    rows = {row["route"]: row for row in answer["endpoints"]}
    assert sum(int(row["energy_uj"] or 0) for row in rows.values()) + int(answer["no_span_energy_uj"]) == script.expected_uj() - first
    intervals = [((script.start_ms + (i - 1) * 500) * 1_000_000, (script.start_ms + i * 500) * 1_000_000, script.milliwatts(i, 0) * 500) for i in range(2, 16)]
    routes, no_span = reference(shop.spans, intervals)
    assert {route: int(row["energy_uj"]) for route, row in rows.items() if row["energy_uj"] is not None} == routes
    assert int(answer["no_span_energy_uj"]) == no_span
    assert rows["GET /users/{id}"]["requests"] == 16 and rows["GET /cart"]["requests"] == 8
    assert rows["GET /cart"]["coverage"] == 1
    assert int(rows["GET /cart"]["energy_per_request_uj"]) > 0

    traces = ops.get(f"/api/v1/tasks/{task}/traces?limit=1000").json()["traces"]
    assert len(traces) == 25
    assert sum(int(trace["energy_uj"] or 0) for trace in traces) == sum(routes.values())
    text = ops.get("/metrics").body.decode()
    assert 'tidewatt_otlp_spans_total{outcome="duplicate"} 48' in text


def test_what_is_no_request_is_told_so_in_the_senders_encoding(server):
    agent = Client(server.port, server.agent_token)
    refused = agent.request("POST", "/v1/traces", b"\x08\x01", PROTOBUF)
    assert refused.status == 400 and refused.headers["content-type"] == "application/x-protobuf"
    assert b"ExportTraceServiceRequest" in refused.body
    assert agent.request("POST", "/v1/traces", b"[]", JSON).problem()["code"] == "invalid_request"
    assert agent.request("POST", "/v1/traces", b"{}", {"Content-Type": "text/plain"}).status == 415
    assert agent.request("POST", "/v1/traces", gzip.compress(b"\0" * 20_000_000), {**PROTOBUF, "Content-Encoding": "gzip"}).status == 413
    nobody = otlp.Span("x").end()
    answer = post(agent, otlp.as_json({"service.name": "nobody"}, [nobody]), JSON).json()
    assert answer["partialSuccess"]["rejectedSpans"] == "1"
    assert "tidewatt.task_id" in answer["partialSuccess"]["errorMessage"]
    viewer = Client(server.port, None)
    assert viewer.request("POST", "/v1/traces", b"{}", JSON).status == 401


def test_after_a_start_the_ledger_is_whole_and_the_split_begins_anew(server):
    agent = Client(server.port, server.agent_token)
    script = NodeScript("n2", beats=4, devices=1, period_ms=10_000)
    span = otlp.Span("job").end()
    post(agent, otlp.as_json({"tidewatt.task_id": script.task_id(0)}, [span]), JSON)
    agent.post("/api/v1/heartbeats", script.beats())
    target = f"/api/v1/tasks/{script.task_id(0)}/endpoints?range=2h"
    assert Client(server.port, server.ops_token).get(target).json()["spans_since"] is not None
    server.stop()
    server.start()
    answer = Client(server.port, server.ops_token).get(target).json()
    assert (answer["spans_since"], answer["reason"], answer["spans_energy_uj"]) == (None, "no_spans", None)
    assert answer["energy_uj"] == answer["not_observed_energy_uj"] == str(script.expected_uj())
