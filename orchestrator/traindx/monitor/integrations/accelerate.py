"""The monitor beside Accelerate: `monitor = monitor_of(accelerator, model, optimizer)` behind `accelerator.prepare`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.optimizer import AcceleratedOptimizer

from traindx.monitor.monitor import Monitor


def monitor_of(
    accelerator: Accelerator,
    model: torch.nn.Module,
    optimizer: AcceleratedOptimizer | torch.optim.Optimizer | None = None,
    folder: str | Path | None = None,
    **options: Any,
) -> Monitor:
    """A monitor of what `accelerator.prepare` returned, in the folder of the project.

    With accumulation, call `monitor.step(loss)` where `accelerator.sync_gradients` holds.
    """
    place = folder or accelerator.project_dir
    return Monitor(model, optimizer, folder=place, scaler=getattr(accelerator, "scaler", None), **options)
