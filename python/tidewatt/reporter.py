"""A training job's progress for Tidewatt: epochs, energy, step latency."""
from __future__ import annotations

import collections
import contextlib
import dataclasses
import http.server
import logging
import threading
import time
from types import TracebackType
from typing import Any, Callable, Deque, Dict, Iterator, List, Optional, Type

from .client import Client, TidewattError
from .meter import Meter, Sampler

_log = logging.getLogger("tidewatt")
_STEPS_KEPT = 100


@dataclasses.dataclass(frozen=True)
class EpochRow:
    """One finished epoch; unknown is None."""

    epoch: int
    energy_joules: Optional[float]
    seconds: Optional[float]


class EpochReporter:
    """Says how far a task is: serves /metrics, or posts to the server, or both. Never stops the training.

        with EpochReporter("bert-42", epochs_total=100, meter=AgentMeter(domains=["gpu"]), csv="epochs.csv") as reporter:
            for epoch in reporter.epochs():
                for batch in data:
                    with reporter.step():
                        train(batch)

    `port=None` serves nothing, `port=0` takes a free one (see `.port`). It listens on all addresses, as a scraper in a cluster needs;
    `host="127.0.0.1"` keeps it to the machine. Energy is known where `meter` is given or `finish_epoch(energy_joules=...)` says it.
    `csv` takes one row an epoch, for `tidewatt predict --epochs`.
    """

    def __init__(self, task_id: str, *, epochs_total: Optional[int] = None, port: Optional[int] = 8000, host: str = "0.0.0.0",
                 client: Optional[Client] = None, meter: Optional[Meter] = None, meter_interval: float = 1.0, csv: Optional[str] = None,
                 labels: Optional[Dict[str, str]] = None, clock: Callable[[], float] = time.monotonic) -> None:
        if not task_id:
            raise ValueError("task_id is empty")
        if epochs_total is not None and epochs_total < 0:
            raise ValueError(f"epochs_total {epochs_total} is below 0")
        self.task_id = task_id
        self.epochs_total = epochs_total
        self.rows: List[EpochRow] = []
        self._labels = {"task_id": task_id, **(labels or {})}
        for name in self._labels:
            if not name.isidentifier() or not name.isascii():
                raise ValueError(f"label {name!r} is no name: letters, digits and _ only")
        self._client = client
        self._csv = csv
        self._clock = clock
        self._lock = threading.Lock()
        self._epoch = 0
        self._energy: Optional[float] = 0.0
        self._steps: Deque[float] = collections.deque(maxlen=_STEPS_KEPT)
        self._trouble: Dict[str, str] = {}
        self._server: Optional[http.server.ThreadingHTTPServer] = None
        if csv is not None:
            with open(csv, "w", encoding="ascii") as file:
                file.write("epoch,energy_j,seconds\n")
        if port is not None:
            self._serve(host, port)
        self._sampler = Sampler(meter, meter_interval) if meter is not None else None
        self._began = self._clock()

    # -- what the training loop calls -----------------------------------------------------------------------------
    def epochs(self, count: Optional[int] = None, *, first: int = 1) -> Iterator[int]:
        """Epoch numbers from `first`; each counts as finished when the loop asks for the next one."""
        count = self.epochs_total if count is None else count
        if count is None:
            raise ValueError("how many epochs? give epochs_total or epochs(count)")
        self.start_epoch()
        for number in range(first, first + count):
            yield number
            self.finish_epoch(number)

    def start_epoch(self) -> None:
        """An epoch starts now; without it one starts where the last ended."""
        self._measured()
        self._began = self._clock()

    def finish_epoch(self, number: Optional[int] = None, *, energy_joules: Optional[float] = None, seconds: Optional[float] = None) -> EpochRow:
        """An epoch is done. Its energy and time are measured unless they are given."""
        now, measured = self._clock(), self._measured()
        if energy_joules is None:
            energy_joules = measured
        if energy_joules is not None and not 0 <= energy_joules < float("inf"):
            raise ValueError(f"energy_joules {energy_joules!r} is not 0 or more")
        row = EpochRow(self._epoch + 1 if number is None else number, energy_joules, now - self._began if seconds is None else seconds)
        self._began = now
        with self._lock:
            self.rows.append(row)
            self._epoch = row.epoch
            # One epoch of unknown energy and the sum is not known any more: a sum of the rest would be too low.
            self._energy = None if self._energy is None or row.energy_joules is None else self._energy + row.energy_joules
        self._write(row)
        self._post()
        return row

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """Times one step."""
        began = self._clock()
        yield
        self.finish_step(self._clock() - began)

    def finish_step(self, seconds: float) -> None:
        with self._lock:
            self._steps.append(seconds)

    # -- what scrapers see ----------------------------------------------------------------------------------------
    @property
    def port(self) -> Optional[int]:
        return None if self._server is None else int(self._server.server_address[1])

    def metrics(self) -> str:
        """The Prometheus text format. What isn't known has no line."""
        with self._lock:
            latency = sum(self._steps) / len(self._steps) if self._steps else None
            families = [
                ("tidewatt_task_epoch", "gauge", "Epochs finished.", float(self._epoch)),
                ("tidewatt_task_epochs_total", "gauge", "Epochs the task will do.", self.epochs_total),
                ("tidewatt_task_energy_joules_total", "counter", "Energy of the finished epochs.", self._energy if self.rows else None),
                ("tidewatt_task_step_latency_seconds", "gauge", f"Mean time of the last {_STEPS_KEPT} steps.", latency),
            ]
        labels = ",".join(f'{name}="{_escaped(value)}"' for name, value in self._labels.items())
        lines = [f"# HELP {name} {text}\n# TYPE {name} {kind}\n{name}{{{labels}}} {float(value)!r}\n" for name, kind, text, value in families
                 if value is not None]
        return "".join(lines)

    def close(self) -> None:
        if self._sampler is not None:
            self._sampler.close()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def __enter__(self) -> "EpochReporter":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.close()

    # -- the edges: none of their failures reaches the training ---------------------------------------------------------
    def _measured(self) -> Optional[float]:
        if self._sampler is None:
            return None
        joules, missing, _ = self._sampler.cut()
        self._say("meter", "; ".join(missing) or None)
        return joules

    def _post(self) -> None:
        if self._client is None:
            return
        with self._lock:
            latency = sum(self._steps) / len(self._steps) if self._steps else None
            epoch, energy = self._epoch, self._energy
        try:
            self._client.progress(self.task_id, epoch=epoch, epochs_total=self.epochs_total, energy_joules_total=energy, step_latency_seconds=latency)
        except TidewattError as error:
            self._say("server", str(error))
            return
        self._say("server", None)

    def _write(self, row: EpochRow) -> None:
        if self._csv is None:
            return
        energy = "" if row.energy_joules is None else repr(float(row.energy_joules))
        seconds = "" if row.seconds is None else repr(float(row.seconds))
        try:
            with open(self._csv, "a", encoding="ascii") as file:
                file.write(f"{row.epoch},{energy},{seconds}\n")
        except OSError as error:
            self._say("csv", str(error))
            return
        self._say("csv", None)

    def _serve(self, host: str, port: int) -> None:
        try:
            self._server = http.server.ThreadingHTTPServer((host, port), _handler_of(self))
        except OSError as error:
            self._say("metrics", f"{host}:{port}: {error.strerror or error} (another port: EpochReporter(port=...))")
            return
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.1,), name="tidewatt-metrics", daemon=True).start()

    def _say(self, where: str, what: Optional[str]) -> None:
        """Logs when a trouble begins and when it ends, not every time."""
        before = self._trouble.get(where)
        if what is not None and before is None:
            _log.warning("%s: %s; training goes on without it", where, what)
            self._trouble[where] = what
        elif what is None and before is not None:
            _log.info("%s: works again", where)
            del self._trouble[where]


def _handler_of(reporter: EpochReporter) -> Type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        timeout = 10
        server_version = "tidewatt"
        sys_version = ""

        def do_GET(self) -> None:  # noqa: N802  (the name that http.server calls)
            if self.path.split("?", 1)[0] != "/metrics":
                self.send_error(404, "only /metrics is here")
                return
            body = reporter.metrics().encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            _log.debug(format, *args)

    return Handler


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
