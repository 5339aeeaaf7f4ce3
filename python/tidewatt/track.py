"""Energy and carbon of a code block, from the local agent."""
from __future__ import annotations

import functools
import logging
from types import TracebackType
from typing import Any, Callable, Optional, Type, TypeVar, cast

from .meter import AgentMeter, Meter, Sampler

_JOULES_PER_KWH = 3.6e6
_log = logging.getLogger("tidewatt")
_Function = TypeVar("_Function", bound=Callable[..., Any])


class Tracked:
    """What the node used while the block ran: whole devices, whoever else was on them. Filled when the block ends."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.seconds: Optional[float] = None
        self.energy_joules: Optional[float] = None  #: None = not known, and `reason` says why
        self.carbon_grams: Optional[float] = None  #: None without `grams_per_kwh`, or without energy
        self.reason: Optional[str] = None

    def __repr__(self) -> str:
        energy = f"{self.energy_joules:.1f} J" if self.energy_joules is not None else f"energy unknown: {self.reason}"
        return f"<Tracked {self.name}: {energy}>"


class track:  # noqa: N801  (used as a decorator and a context manager, like contextlib's)
    """`with track("load") as used:` or `@track` or `@track("load", on_done=print)`.

    The agent is read at the start, every `interval` seconds and at the end; each device counts by its energy counter, or by its power
    over time where it has none or the block is short. The block's own result and exceptions pass through untouched, and an agent that can't be read never stops it.
    """

    def __new__(cls, name: Any = None, **options: Any) -> Any:
        if callable(name):  # @track without parentheses
            return cls(name.__qualname__, **options)(name)
        return super().__new__(cls)

    def __init__(self, name: Optional[str] = None, *, meter: Optional[Meter] = None, grams_per_kwh: Optional[float] = None, interval: float = 1.0,
                 on_done: Optional[Callable[[Tracked], None]] = None) -> None:
        if interval <= 0:
            raise ValueError(f"interval {interval!r} is not above 0")
        self._name = name or "block"
        self._meter = meter
        self._grams_per_kwh = grams_per_kwh
        self._interval = interval
        self._on_done = on_done
        self._running: Optional[Sampler] = None

    def __enter__(self) -> Tracked:
        if self._running is not None:
            raise RuntimeError("this track() already runs; make one for each block")
        self._running = Sampler(self._meter or AgentMeter(), self._interval)
        self.used = Tracked(self._name)
        return self.used

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        running, self._running = self._running, None
        if running is None:
            return
        self.used.energy_joules, missing, self.used.seconds = running.cut()
        running.close()
        self.used.reason = "; ".join(missing) or None
        if self.used.energy_joules is not None and self._grams_per_kwh is not None:
            self.used.carbon_grams = self.used.energy_joules / _JOULES_PER_KWH * self._grams_per_kwh
        if self._on_done is not None:
            self._on_done(self.used)
        else:
            _log.info("%r", self.used)

    def __call__(self, function: _Function) -> _Function:
        """As a decorator every call is measured on its own, also those that run at the same time."""
        name = self._name if self._name != "block" else function.__qualname__

        @functools.wraps(function)
        def measured(*args: Any, **named: Any) -> Any:
            with track(name, meter=self._meter, grams_per_kwh=self._grams_per_kwh, interval=self._interval, on_done=self._on_done):
                return function(*args, **named)

        return cast(_Function, measured)
