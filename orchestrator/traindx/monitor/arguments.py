"""What a monitor is made with, checked before training begins: then a mistake may still be an error."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from traindx.errors import UsageError

if TYPE_CHECKING:
    from torch.optim import Optimizer


def optimizers_of(
    model: object, optimizer: Optimizer | Sequence[Optimizer] | None, every: int | None, overhead: float
) -> list[Optimizer]:
    """The optimizers, without what frameworks put around them; an argument that makes no sense is a `UsageError`."""
    if not isinstance(model, torch.nn.Module):
        raise UsageError(f"a monitor watches a `torch.nn.Module`, not a `{type(model).__name__}`")
    if every is not None and not (isinstance(every, int) and every >= 1):
        raise UsageError(f"`every` is a number of steps, 1 or more, not {every!r}")
    if not (isinstance(overhead, (int, float)) and 0 < overhead <= 1):
        raise UsageError(f"`overhead` is a share of the training's time, above 0 and up to 1, not {overhead!r}")
    given = [] if optimizer is None else list(optimizer) if isinstance(optimizer, Sequence) else [optimizer]
    return [_unwrapped(one) for one in given]


def check_name(name: str) -> None:
    """Refuse a name that cannot be a part of a file name."""
    if not re.fullmatch(r"[\w.-]*", name):
        raise UsageError(f"`name` becomes a part of a file name: letters, digits, `.`, `-` and `_`, not {name!r}")


def _unwrapped(optimizer: object) -> Optimizer:
    inner = getattr(optimizer, "optimizer", optimizer)
    if not isinstance(inner, torch.optim.Optimizer):
        raise UsageError(f"a monitor takes optimizers of `torch.optim`, not a `{type(optimizer).__name__}`")
    return inner
