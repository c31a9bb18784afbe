"""The monitor as a callback of Lightning: `Trainer(callbacks=[MonitorCallback()])`."""

# ruff: noqa: ARG002 - the framework calls with arguments of its own

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from lightning.pytorch import Callback, LightningModule, Trainer

from traindx.monitor.integrations.numbers import numbers_of
from traindx.monitor.monitor import Monitor


class MonitorCallback(Callback):
    """Watches a fit; options are those of `Monitor`, and its folder is that of the trainer's logger."""

    def __init__(self, folder: str | Path | None = None, **options: Any) -> None:
        self._folder, self._options = folder, options
        self._updates = 0
        self.monitor: Monitor | None = None

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Begin to watch."""
        folder = self._folder or trainer.log_dir or trainer.default_root_dir
        scaler = getattr(trainer.precision_plugin, "scaler", None)
        self._updates = trainer.global_step
        self.monitor = Monitor(pl_module, trainer.optimizers, folder=folder, scaler=scaler, **self._options)

    def on_train_batch_start(self, trainer: Trainer, pl_module: LightningModule, batch: Any, batch_idx: int) -> None:
        """The batch is there."""
        if self.monitor is not None:
            self.monitor.batch_ready()

    def on_after_backward(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Gradients are there, and not clipped yet."""
        if self.monitor is not None:
            self.monitor.after_backward()

    def on_train_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
    ) -> None:
        """End the step, if the optimizer made one: of batches that are accumulated the last one counts."""
        if self.monitor is not None and trainer.global_step > self._updates:
            self._updates = trainer.global_step
            loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
            self.monitor.step(loss if isinstance(loss, torch.Tensor) else None, epoch=trainer.current_epoch)

    def on_validation_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """The present step has an evaluation in it."""
        if self.monitor is not None:
            self.monitor.evaluating()

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Tell what the validation measured."""
        if self.monitor is not None:
            measured = {name: value for name, value in trainer.callback_metrics.items() if not name.startswith("train")}
            self.monitor.log({"epoch": trainer.current_epoch, **numbers_of(measured)})

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """End the file."""
        self._close("")

    def on_exception(self, trainer: Trainer, pl_module: LightningModule, exception: BaseException) -> None:
        """End the file with what ended the training."""
        self._close(type(exception).__name__)

    def _close(self, reason: str) -> None:
        if self.monitor is not None:
            self.monitor.close(reason)
        self.monitor = None
