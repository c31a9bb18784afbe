"""Mean and spread of what a model is given, in training and in evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from traindx.monitor.telemetry_file import Value

_MOST_NUMBERS = 1 << 16
_BATCHES = 4
"""batches of an evaluation that are looked at"""
MEAN, SPREAD = "input_mean", "input_std"


def statistics(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Tensor | None:
    """Mean and standard deviation of the first input that holds numbers; tokens have none."""
    given = next((one for one in (*args, *kwargs.values()) if _has_numbers(one)), None)
    if given is None:
        return None
    with torch.no_grad():
        flat = given.detach().reshape(-1)
        seen = flat[:: -(-flat.numel() // _MOST_NUMBERS)].float()
        return torch.stack((seen.mean(), seen.std(correction=0)))


class Evaluated:
    """The inputs of an evaluation, until training goes on."""

    def __init__(self) -> None:
        self._seen: list[Tensor] = []

    def add(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Look at a batch, if it is among the first."""
        if len(self._seen) < _BATCHES and (found := statistics(args, kwargs)) is not None:
            self._seen.append(found)

    def take(self) -> dict[str, Value]:
        """What the batches were like; nothing is left."""
        seen, self._seen = self._seen, []
        if not seen:
            return {}
        mean, spread = torch.stack(seen).mean(0).tolist()
        return {f"val/{MEAN}": mean, f"val/{SPREAD}": spread}


def _has_numbers(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point() and value.numel() > 0 and not value.is_meta
