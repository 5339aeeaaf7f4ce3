"""A service that `tidewatt continuum` can watch and turn, in ten lines (the operations of docs/api/devol.yaml).

    service = Service("shop", objectives=["p99(latency_ms) <= 150 over 5m tier silver"])

    @service.parameter("workers", value=4, minimum=1, maximum=4)
    def set_workers(value):
        pool.resize(int(value))

    service.serve(port=8000)             # a thread of its own
    service.sample("latency_ms", 12.5)   # once per request
"""
import json
import math
import threading
import time
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Callable, Deque, Dict, List, Optional, Sequence, Tuple
from urllib.parse import parse_qs, urlsplit

LARGEST_BODY = 64 * 1024


class Parameter:
    """A number that may be set within bounds."""

    def __init__(self, value: float, minimum: float, maximum: float, change: Callable[[float], None]) -> None:
        if not minimum <= value <= maximum:
            raise ValueError(f"{value} is not within {minimum} to {maximum}")
        self.value, self.minimum, self.maximum, self.change = value, minimum, maximum, change


class Service:
    """Parameters, metrics and objectives of a service, over HTTP."""

    def __init__(self, name: str, objectives: Sequence[str] = (), kept_samples: int = 50_000) -> None:
        self.name, self.objectives = name, list(objectives)
        self._parameters: Dict[str, Parameter] = {}
        self._samples: Deque[Tuple[int, str, int, float]] = deque(maxlen=kept_samples)
        self._metrics: List[str] = []
        self._next = 0
        self._lock = threading.Lock()
        self._server: Optional[ThreadingHTTPServer] = None

    def parameter(self, name: str, value: float, minimum: float, maximum: float) -> Callable[[Callable[[float], None]], Callable[[float], None]]:
        """Decorates the function that puts a new value into effect. It may raise: the old value stays then."""
        def register(change: Callable[[float], None]) -> Callable[[float], None]:
            self._parameters[name] = Parameter(value, minimum, maximum, change)
            return change
        return register

    def sample(self, metric: str, value: float) -> None:
        """One value of a metric, now. What is no finite number is left out."""
        if not math.isfinite(value):
            return
        with self._lock:
            if metric not in self._metrics:
                self._metrics.append(metric)
            self._samples.append((self._next, metric, int(time.time() * 1000), float(value)))
            self._next += 1

    def spec(self) -> dict:
        """What GET /devol/v1/spec answers."""
        with self._lock:
            metrics = list(self._metrics)
        return {"service": self.name, "metrics": [{"name": name} for name in metrics], "objectives": self.objectives,
                "parameters": [{"name": name, "minimum": p.minimum, "maximum": p.maximum} for name, p in self._parameters.items()]}

    def state(self, since: int = 0) -> dict:
        """What GET /devol/v1/state answers: samples from number `since` on."""
        with self._lock:
            oldest = self._samples[0][0] if self._samples else self._next
            samples: Dict[str, list] = {}
            if since < self._next:
                for number, metric, at, value in self._samples:
                    if number >= since:
                        samples.setdefault(metric, []).append([at, value])
            return {"parameters": {name: p.value for name, p in self._parameters.items()}, "samples": samples, "next": self._next,
                    "dropped": max(0, oldest - since) if since else 0}

    def configure(self, values: Dict[str, float]) -> Dict[str, float]:
        """Sets parameters. ValueError: one is unknown or out of bounds, and nothing was changed."""
        for name, value in values.items():
            known = self._parameters.get(name)
            if known is None:
                raise ValueError(f"{name} is no parameter; there are: {', '.join(self._parameters)}")
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not known.minimum <= value <= known.maximum:
                raise ValueError(f"{name} is to be a number within {known.minimum} to {known.maximum}")
        for name, value in values.items():
            self._parameters[name].change(value)
            self._parameters[name].value = value
        return {name: p.value for name, p in self._parameters.items()}

    def slo(self) -> dict:
        """What GET /devol/v1/slo answers. The agent evaluates the objectives itself."""
        with self._lock:
            counts: Dict[str, int] = {}
            for _, metric, _, _ in self._samples:
                counts[metric] = counts.get(metric, 0) + 1
        return {"objectives": self.objectives, "samples": counts}

    def openapi(self) -> dict:
        """The service's own OpenAPI: its parameters with their bounds."""
        body = {"type": "object", "additionalProperties": False,
                "properties": {name: {"type": "number", "minimum": p.minimum, "maximum": p.maximum} for name, p in self._parameters.items()}}
        def ok(summary: str) -> dict:
            return {"get": {"summary": summary, "responses": {"200": {"description": summary}}}}
        return {"openapi": "3.1.0", "info": {"title": self.name, "version": "1"},
                "paths": {"/devol/v1/spec": ok("Parameters, metrics and objectives"), "/devol/v1/state": ok("Values and samples"),
                          "/devol/v1/slo": ok("Objectives"),
                          "/devol/v1/config": {"put": {"summary": "Reconfigure", "requestBody": {"content": {"application/json": {"schema": body}}},
                                                       "responses": {"200": {"description": "Parameters now"}, "400": {"description": "Nothing was changed"}}}}}}

    def serve(self, port: int = 0, address: str = "127.0.0.1") -> int:
        """Serves the operations in a thread of its own. Returns the port."""
        service = self

        class Handler(_Handler):
            offered = service

        self._server = ThreadingHTTPServer((address, port), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self._server.server_address[1]

    def close(self) -> None:
        """Ends serving."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


class _Handler(BaseHTTPRequestHandler):
    offered: Service
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def _answer(self, status: int, content: dict) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        plain = {"/devol/v1/spec": self.offered.spec, "/devol/v1/slo": self.offered.slo, "/devol/v1/openapi.json": self.offered.openapi}
        if asked.path == "/devol/v1/state":
            since = parse_qs(asked.query).get("since", ["0"])[0]
            if not since.isascii() or not since.isdigit() or len(since) > 20:
                self._answer(400, {"error": "since is no count"})
            else:
                self._answer(200, self.offered.state(int(since)))
        elif asked.path in plain:
            self._answer(200, plain[asked.path]())
        else:
            self._answer(404, {"error": "there are /devol/v1/spec, state, config (PUT), slo and openapi.json"})

    def do_PUT(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > LARGEST_BODY:
            self.close_connection = True
            self._answer(400, {"error": "a body with Content-Length, at most 64 KiB"})
            return
        body = self.rfile.read(int(length))
        if urlsplit(self.path).path != "/devol/v1/config":
            self._answer(404, {"error": "PUT /devol/v1/config"})
            return
        try:
            values = json.loads(body)
            if not isinstance(values, dict):
                raise ValueError("the body is to be an object of numbers")
            self._answer(200, {"parameters": self.offered.configure(values)})
        except ValueError as error:
            self._answer(400, {"error": str(error)})
