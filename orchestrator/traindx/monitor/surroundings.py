"""What a monitor finds around it: the process of a distributed job, memory, the rates of the optimizers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import psutil
import torch

if TYPE_CHECKING:
    from torch import nn
    from torch.optim import Optimizer

    from traindx.monitor.telemetry_file import Value

_MEGABYTE = 1 << 20
_process = psutil.Process


def rank_of_job() -> int | None:
    """The number of this process; None where it is the only one."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank() if torch.distributed.get_world_size() > 1 else None
    world, rank = os.environ.get("WORLD_SIZE", ""), os.environ.get("RANK", "")
    return int(rank) if rank.isdecimal() and world.isdecimal() and int(world) > 1 else None


def memory_in_use(device: torch.device) -> dict[str, Value]:
    """Megabytes that the process holds, and that its tensors hold on a device."""
    found: dict[str, Value] = {"rss_mb": _process().memory_info().rss / _MEGABYTE}
    if device.type == "cuda":
        found["gpu_mem_mb"] = torch.cuda.memory_allocated(device) / _MEGABYTE
        found["gpu_mem_peak_mb"] = torch.cuda.max_memory_allocated(device) / _MEGABYTE
    return found


def rates_of(optimizers: Sequence[Optimizer]) -> dict[str, Value]:
    """The learning rate of the first group as `lr`, those of others by their number."""
    groups = [group for optimizer in optimizers for group in optimizer.param_groups]
    return {
        "lr" if number == 0 else f"lr/group{number}": float(group["lr"])
        for number, group in enumerate(groups)
        if "lr" in group
    }


def device_of(model: nn.Module) -> torch.device:
    """Where the first parameter of a model lies."""
    first = next(model.parameters(), None)
    return torch.device("cpu") if first is None else first.device


def scale_of(scaler: Any) -> dict[str, Value]:
    """The loss scale of mixed-precision training, where there is one."""
    return {} if scaler is None or not scaler.is_enabled() else {"loss_scale": float(scaler.get_scale())}
