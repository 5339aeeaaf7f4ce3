"""Hooks for training frameworks: what they call at the end of an epoch or a step goes to an EpochReporter.

The framework is imported when a hook is made, never before.
"""
from __future__ import annotations

import time
from typing import Any, Optional

from .reporter import EpochReporter


class _Steps:
    def __init__(self, reporter: EpochReporter) -> None:
        self._reporter = reporter
        self._began: Optional[float] = None

    def begin(self) -> None:
        self._began = time.monotonic()

    def end(self) -> None:
        if self._began is not None:
            self._reporter.finish_step(time.monotonic() - self._began)
            self._began = None


def huggingface(reporter: EpochReporter) -> Any:
    """`Trainer(..., callbacks=[huggingface(reporter)])`."""
    from transformers import TrainerCallback

    steps = _Steps(reporter)

    class TidewattCallback(TrainerCallback):  # type: ignore[misc]
        def on_train_begin(self, args: Any, state: Any, control: Any, **named: Any) -> None:
            reporter.start_epoch()

        def on_step_begin(self, args: Any, state: Any, control: Any, **named: Any) -> None:
            steps.begin()

        def on_step_end(self, args: Any, state: Any, control: Any, **named: Any) -> None:
            steps.end()

        def on_epoch_end(self, args: Any, state: Any, control: Any, **named: Any) -> None:
            reporter.finish_epoch()

    return TidewattCallback()


def lightning(reporter: EpochReporter) -> Any:
    """`Trainer(callbacks=[lightning(reporter)])`, with lightning or pytorch_lightning."""
    try:
        from lightning.pytorch import Callback
    except ImportError:
        from pytorch_lightning import Callback

    steps = _Steps(reporter)

    class TidewattCallback(Callback):  # type: ignore[misc]
        def on_train_start(self, trainer: Any, module: Any) -> None:
            reporter.start_epoch()

        def on_train_batch_start(self, *args: Any, **named: Any) -> None:
            steps.begin()

        def on_train_batch_end(self, *args: Any, **named: Any) -> None:
            steps.end()

        def on_train_epoch_end(self, trainer: Any, module: Any) -> None:
            reporter.finish_epoch()

    return TidewattCallback()
