"""What the node's devices drew between two moments, as the local agent saw it."""
from __future__ import annotations

import dataclasses
import http.client
import re
import threading
import time
import urllib.parse
from typing import Dict, FrozenSet, Iterable, List, Optional, Protocol, Tuple

DEFAULT_AGENT = "http://127.0.0.1:7311"
_MOST_BYTES = 8 << 20
#: The parts of a machine; its whole meter counts only where none of them is read.
_COMPONENTS = ("gpu", "cpu_package", "dram")

_POWER = "tidewatt_agent_device_power_watts"
_ENERGY = "tidewatt_agent_device_energy_joules_total"
_LINE = re.compile(r"^([a-zA-Z_:][\w:]*)\{(.*)\} (\S+)$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


class MeterError(Exception):
    """The meter can't be read; `str()` says why and what to do, on one line."""


@dataclasses.dataclass(frozen=True)
class Device:
    domain: str
    index: str
    uuid: str = ""
    source: str = ""
    quality: str = ""


@dataclasses.dataclass(frozen=True)
class Reading:
    """What all devices said at one moment. A device without a value isn't in that map."""

    at: float  #: seconds of a monotonic clock
    watts: Dict[Device, float]
    joules: Dict[Device, float]  #: counters since some start

    def devices(self) -> FrozenSet[Device]:
        return frozenset(self.watts) | frozenset(self.joules)


class Meter(Protocol):
    """Anything that can be read: an AgentMeter, or one of your own."""

    def read(self) -> Reading: ...


class AgentMeter:
    """The agent on this node, by its /metrics."""

    def __init__(self, agent: str = DEFAULT_AGENT, *, domains: Optional[Iterable[str]] = None, uuids: Optional[Iterable[str]] = None,
                 timeout: float = 2.0) -> None:
        """`domains` and `uuids` narrow the devices: `domains=["gpu"]`. Without them: the node's total by the rule of the server."""
        self._url = urllib.parse.urlsplit(agent)
        if self._url.scheme not in ("http", "https") or not self._url.hostname:
            raise ValueError(f"agent {agent!r} is no http:// or https:// address")
        self._agent = agent
        self._domains = frozenset(domains) if domains is not None else None
        self._uuids = frozenset(uuids) if uuids is not None else None
        self._timeout = timeout

    def read(self) -> Reading:
        text = self._fetch()
        at = time.monotonic()
        watts = self._chosen(parse_devices(text, _POWER))
        joules = self._chosen(parse_devices(text, _ENERGY))
        if self._domains is None and self._uuids is None:
            watts, joules = _total_of_node(watts, joules)
        return Reading(at, watts, joules)

    def _chosen(self, values: Dict[Device, float]) -> Dict[Device, float]:
        return {device: value for device, value in values.items()
                if (self._domains is None or device.domain in self._domains) and (self._uuids is None or device.uuid in self._uuids)}

    def _fetch(self) -> str:
        kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        connection = kind(self._url.hostname or "", self._url.port, timeout=self._timeout)
        try:
            connection.request("GET", self._url.path.rstrip("/") + "/metrics")
            answer = connection.getresponse()
            body = answer.read(_MOST_BYTES + 1)
        except (OSError, http.client.HTTPException) as error:
            raise MeterError(f"the agent at {self._agent} does not answer: {error} (is tidewatt-agent running, with --listen?)") from None
        finally:
            connection.close()
        if answer.status != 200 or len(body) > _MOST_BYTES:
            raise MeterError(f"the agent at {self._agent} answered {answer.status} with {len(body)} bytes (is this its address?)")
        return body.decode("utf-8", "replace")


def parse_devices(text: str, family: str) -> Dict[Device, float]:
    """The lines of one family of the Prometheus text format, by device."""
    out: Dict[Device, float] = {}
    for line in text.splitlines():
        if not line.startswith(family + "{"):
            continue
        found = _LINE.match(line)
        if not found:
            continue
        labels = {name: _unescaped(value) for name, value in _LABEL.findall(found.group(2))}
        try:
            value = float(found.group(3))
        except ValueError:
            continue
        if value != value or value < 0 or value == float("inf"):
            continue
        device = Device(labels.get("domain", ""), labels.get("index", ""), labels.get("uuid", ""), labels.get("source", ""), labels.get("quality", ""))
        out[device] = value
    return out


class Integral:
    """Energy from the first reading to the last, per device: by its counter, or by its power over time.

    A counter is read by the agent every so often: over less than COUNTER_SECONDS power x time is nearer to the truth.
    """

    COUNTER_SECONDS = 2.0

    def __init__(self) -> None:
        self.first: Optional[Reading] = None
        self.last: Optional[Reading] = None
        self._by_counter: Dict[Device, float] = {}
        self._by_power: Dict[Device, float] = {}
        self._no_counter: Dict[Device, str] = {}
        self._no_power: Dict[Device, str] = {}

    def add(self, reading: Reading, *, after_failure: bool = False) -> None:
        """The next reading. After a failed one the power in between isn't known; a counter bridges it."""
        before, self.last = self.last, reading
        if before is None:
            self.first = reading
            return
        for device in before.devices() | reading.devices():
            if device in before.joules and device in reading.joules:
                difference = reading.joules[device] - before.joules[device]
                if difference < 0:
                    self._no_counter[device] = "its counter was reset"
                self._by_counter[device] = self._by_counter.get(device, 0.0) + difference
            else:
                self._no_counter.setdefault(device, "not read all the time")
            if device not in before.watts or device not in reading.watts:
                self._no_power.setdefault(device, "not read all the time")
            elif after_failure:
                self._no_power.setdefault(device, "the agent could not be read for a while")
            else:
                mean = (before.watts[device] + reading.watts[device]) / 2
                self._by_power[device] = self._by_power.get(device, 0.0) + mean * (reading.at - before.at)

    @property
    def seconds(self) -> Optional[float]:
        return None if self.first is None or self.last is None else self.last.at - self.first.at

    def joules(self) -> Tuple[Optional[float], List[str]]:
        """The sum over all devices and no reason; or None and why some device's energy isn't knowable."""
        if self.first is None or self.last is None or self.first is self.last:
            return None, ["the agent was read less than twice"]
        devices = set(self._by_counter) | set(self._by_power) | set(self._no_counter) | set(self._no_power)
        if not devices:
            return None, ["no device is read by the agent"]
        short = (self.seconds or 0.0) < self.COUNTER_SECONDS
        total = 0.0
        missing: List[str] = []
        for device in sorted(devices, key=lambda d: (d.domain, d.index, d.uuid)):
            # A counter that never moved was not read in between: no device draws nothing.
            counted = self._by_counter.get(device, 0.0) if device not in self._no_counter else 0.0
            powered = self._by_power.get(device) if device not in self._no_power else None
            if counted > 0 and not (short and powered is not None):
                total += counted
            elif powered is not None and (short or device not in self._by_counter):
                total += powered
            else:
                why = self._no_counter.get(device) if device in self._by_counter else self._no_power.get(device)
                missing.append(f"{device.domain} {device.index}".strip() + ": " + (why or "its counter was not read in between"))
        return (None if missing else total), missing


class Sampler:
    """Reads a meter every `interval` seconds in a thread of its own, and cuts its energy into pieces without a gap."""

    def __init__(self, meter: Meter, interval: float = 1.0) -> None:
        if interval <= 0:
            raise ValueError(f"interval {interval!r} is not above 0")
        self._meter = meter
        self._interval = interval
        self._lock = threading.Lock()
        self._integral = Integral()
        self._failure: Optional[str] = None
        self._ended = threading.Event()
        with self._lock:
            self._read()
        self._thread = threading.Thread(target=self._watch, name="tidewatt-meter", daemon=True)
        self._thread.start()

    def cut(self) -> Tuple[Optional[float], List[str], Optional[float]]:
        """Joules since the last cut, the reasons if they aren't known, seconds between the readings; the next piece begins here."""
        with self._lock:
            started_well = self._integral.first is not None
            before_failure = self._failure
            self._read()
            done, self._integral = self._integral, Integral()
            if self._failure is not None:
                return None, [self._failure], done.seconds
            if done.last is not None:
                self._integral.add(done.last)
            if not started_well:
                return None, [before_failure or "the agent could not be read at the start"], None
            joules, missing = done.joules()
            return joules, missing, done.seconds

    def close(self) -> None:
        self._ended.set()
        self._thread.join()

    def _read(self) -> None:
        try:
            reading = self._meter.read()
        except MeterError as error:
            self._failure = str(error)
            return
        self._integral.add(reading, after_failure=self._failure is not None)
        self._failure = None

    def _watch(self) -> None:
        while not self._ended.wait(self._interval):
            with self._lock:
                # A piece that began without a reading has no beginning to count from.
                if self._integral.first is not None:
                    self._read()


def _total_of_node(watts: Dict[Device, float], joules: Dict[Device, float]) -> Tuple[Dict[Device, float], Dict[Device, float]]:
    seen = {device.domain for device in list(watts) + list(joules)}
    counted = seen & set(_COMPONENTS) or seen
    return ({device: value for device, value in watts.items() if device.domain in counted},
            {device: value for device, value in joules.items() if device.domain in counted})


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found.group(1), found.group(1)), text)
