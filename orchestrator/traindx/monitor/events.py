"""How an event is written: in words, so that no reader takes a part of it for a measurement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from traindx.vocabulary.telemetry import AT, CLASS, EVENT, FOUND, FROM, GRADIENT, INPUT, MODULE, START, WEIGHT

if TYPE_CHECKING:
    from torch import nn
    from torch.optim import Optimizer

    from traindx.monitor.locating import Origin
    from traindx.monitor.telemetry_file import Value

_NOUNS = {INPUT: "", WEIGHT: "parameter ", GRADIENT: "parameter ", MODULE: "module "}


def origin_row(origin: Origin) -> dict[str, Value]:
    """What broke first: `{"from": "module", "at": "module head.log", "class": "model.Log", "found": "is NaN"}`."""
    at = f"{_NOUNS[origin.where]}{origin.name}" if origin.name else "the model itself"
    return {FROM: origin.where, AT: at, CLASS: origin.kind, FOUND: f"is {origin.value}"}


def start_row(model: nn.Module, optimizers: Sequence[Optimizer], device: torch.device) -> dict[str, Value]:
    """What is trained, with what, where."""
    names = "+".join(type(one).__name__ for one in optimizers)
    made = f"{type(model).__name__} on {device.type}, torch {torch.__version__}"
    return {EVENT: START, "model": made, "optimizer": names or "none"}
