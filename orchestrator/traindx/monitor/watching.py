"""A look at every step for numbers that are none, and where the first one came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from traindx.monitor.locating import Origin, broken_value, class_name, locate_forward, locate_gradient
from traindx.vocabulary.telemetry import MODULE

if TYPE_CHECKING:
    from torch import Tensor, nn

    from traindx.monitor.steps import Gradients

MOST_ORIGINS = 5
"""origins that are looked for: weights that are NaN make every later step NaN"""
_MOST_NUMBERS = 1 << 14
_DEEPEST = 3


class Watch:
    """Looks at outputs and gradients; where one is broken, finds out what broke first."""

    def __init__(self, model: nn.Module, alone: bool) -> None:
        self._model = model
        self._alone = alone
        """whether no other process takes part in a forward pass: only then can it be run again"""
        self._left = MOST_ORIGINS
        self._was_broken = self._is_locating = False

    def output(self, args: tuple[Any, ...], kwargs: dict[str, Any], output: object) -> Origin | None:
        """What broke the output of a forward pass when it breaks; None while all is well, and while it stays so."""
        if self._is_locating or not self._left:
            return None
        if not _looks_broken(output):
            self._was_broken = False
            return None
        found = broken_value(output)
        if not found or self._was_broken:
            return None
        self._was_broken, self._is_locating = True, True
        self._left -= 1
        try:
            origin = locate_forward(self._model, args, kwargs, run=self._alone)
        finally:
            self._is_locating = False
        return origin or Origin(MODULE, "", class_name(self._model), found)

    @property
    def is_locating(self) -> bool:
        """Whether a forward pass is being run again."""
        return self._is_locating

    def gradients(self, gradients: Gradients) -> Origin | None:
        """The parameter whose gradient broke first, when gradients break while the outputs are well."""
        if not self._left or self._was_broken:
            return None
        broken = gradients.not_finite()
        if not broken:
            return None
        self._was_broken = True
        self._left -= 1
        return locate_gradient(broken, self._model, gradients.present())


def _looks_broken(output: object, depth: int = 0) -> bool:
    """Whether some of an output's numbers are none; of very many, evenly chosen ones are looked at."""
    tensor = first_tensor(output, depth)
    if tensor is None:
        return False
    flat = tensor.detach().reshape(-1)
    seen = flat[:: -(-flat.numel() // _MOST_NUMBERS)]
    total = float(seen.sum(dtype=torch.promote_types(seen.dtype, torch.float32)))
    return not (-float("inf") < total < float("inf"))


def first_tensor(value: object, depth: int = 0) -> Tensor | None:
    """The first tensor with numbers in what a model returns."""
    if isinstance(value, torch.Tensor):
        return value if value.is_floating_point() and value.numel() and not value.is_meta else None
    if depth > _DEEPEST:
        return None
    within = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return next((found for one in within if (found := first_tensor(one, depth + 1)) is not None), None)
