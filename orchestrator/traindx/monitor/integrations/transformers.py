"""The monitor as a callback of the Hugging Face trainer: `Trainer(callbacks=[MonitorCallback()])`."""

# ruff: noqa: ARG002 - the framework calls with arguments of its own

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from traindx.monitor.integrations.numbers import numbers_of
from traindx.monitor.monitor import Monitor


class MonitorCallback(TrainerCallback):
    """Watches a training; options are those of `Monitor`, and its folder is the trainer's `output_dir`.

    The loss is that of the model's output: a trainer with a loss function of its own logs it itself.
    """

    def __init__(self, folder: str | Path | None = None, **options: Any) -> None:
        self._folder, self._options = folder, options
        self.monitor: Monitor | None = None

    def on_train_begin(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: Any,
    ) -> None:
        """Begin to watch."""
        model, optimizer = kwargs.get("model"), kwargs.get("optimizer")
        if isinstance(model, torch.nn.Module):
            folder = self._folder or args.output_dir
            self.monitor = Monitor(model, optimizer, folder=folder, **self._options)

    def on_step_end(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: Any,
    ) -> None:
        """End the step."""
        if self.monitor is not None:
            self.monitor.step(epoch=state.epoch or 0.0)

    def on_prediction_step(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: Any,
    ) -> None:
        """The present step has an evaluation in it."""
        if self.monitor is not None:
            self.monitor.evaluating()

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: Any,
    ) -> None:
        """Tell what the trainer logs of its evaluations, and the gradient norm that it measured before clipping."""
        if self.monitor is not None:
            logs = numbers_of(kwargs.get("logs") or {})
            told = {name: value for name, value in logs.items() if name.startswith("eval_")}
            if told:
                self.monitor.log({"epoch": state.epoch or 0.0, **told})

    def on_train_end(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: Any,
    ) -> None:
        """End the file."""
        if self.monitor is not None:
            self.monitor.close()
        self.monitor = None
