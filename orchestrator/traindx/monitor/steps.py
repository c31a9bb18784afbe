"""Sizes of gradients, and of the updates that an optimizer makes of them: a few operations over all parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from traindx.monitor.parameters import gradient_of, told_one_by_one, trainable

if TYPE_CHECKING:
    from torch import Tensor, nn

    from traindx.monitor.readings import Readings

LARGEST_COPY = 1 << 16
"""numbers of a parameter that are kept to be compared with those after the step"""
MOST_COPIES = 128
_LEAST_WEIGHT = 1e-12


class Gradients:
    """The norms of a model's gradients."""

    def __init__(self, model: nn.Module) -> None:
        self.parameters = trainable(model)
        self._told = set(told_one_by_one(self.parameters))

    def present(self) -> dict[str, Tensor]:
        """The gradients there are, by the name of their parameter."""
        found = ((name, gradient_of(one)) for name, one in self.parameters.items())
        return {name: gradient for name, gradient in found if gradient is not None}

    def measure(self, into: Readings, groups: dict[str, list[str]], by_layer: bool) -> None:
        """The norm over all gradients, of each group of parameters, and of single parameters."""
        gradients = self.present()
        if not gradients:
            return
        norms = dict(zip(gradients, norms_of(list(gradients.values())), strict=True))
        into.add("grad_norm", together(list(norms.values())))
        for group, names in groups.items():
            if own := [norms[name] for name in names if name in norms]:
                into.add(f"grad_norm_group/{group}", together(own))
        told = [name for name in norms if name in self._told] if by_layer else []
        for name in told:
            into.add(f"grad_norm/{name}", norms[name])

    def not_finite(self) -> list[str]:
        """The parameters whose gradient holds NaN or Inf."""
        gradients = self.present()
        if not gradients:
            return []
        sums = torch.stack([one.sum(dtype=torch.float32) for one in gradients.values()])
        if bool(torch.isfinite(sums.sum())):
            return []
        return [name for name, one in gradients.items() if not bool(torch.isfinite(one).all())]


class Updates:
    """How far a step moves the parameters, beside their size."""

    def __init__(self, parameters: dict[str, Tensor]) -> None:
        told = told_one_by_one(parameters)
        self._names = [*told, *(name for name in parameters if name not in set(told))][:MOST_COPIES]
        self._parameters = parameters
        self._before: list[Tensor] = []

    def before(self) -> None:
        """Keep the parameters as they are."""
        self._before = [one.clone() for one in self._heads()]

    def after(self, into: Readings, by_layer: bool) -> None:
        """The norm of what changed over that of what was there."""
        if not self._before:
            return
        before, self._before = self._before, []
        weights = torch.stack(norms_of(before))
        changes = torch.stack(norms_of([new - old for new, old in zip(self._heads(), before, strict=True)]))
        into.add("update_ratio", _over(torch.linalg.vector_norm(changes), torch.linalg.vector_norm(weights)))
        if by_layer:
            told = told_one_by_one(self._parameters)
            ratios = _over(changes[: len(told)], weights[: len(told)])
            into.extend([f"update_ratio/{name}" for name in told], ratios)

    def _heads(self) -> list[Tensor]:
        return [_head(self._parameters[name]) for name in self._names]


def norms_of(tensors: list[Tensor]) -> list[Tensor]:
    """The norm of each tensor, in single precision at least."""
    home = tensors[0].device
    if all(one.dtype is torch.float32 and one.device == home for one in tensors):
        return list(torch._foreach_norm(tensors))
    return [
        torch.linalg.vector_norm(one, dtype=torch.promote_types(one.dtype, torch.float32)).to(home) for one in tensors
    ]


def together(norms: list[Tensor]) -> Tensor:
    """The norm of the whole, from those of its parts."""
    wide = torch.float64 if any(one.dtype is torch.float64 for one in norms) else torch.float32
    norm: Tensor = torch.linalg.vector_norm(torch.stack([one.to(wide) for one in norms]))
    return norm


def _over(changes: Tensor, weights: Tensor) -> Tensor:
    return changes / weights.clamp_min(_LEAST_WEIGHT)


def _head(parameter: Tensor) -> Tensor:
    parameter = parameter.detach()
    local = getattr(parameter, "to_local", None)
    whole: Tensor = parameter if local is None else local()
    head: Tensor = whole.flatten()[:LARGEST_COPY]
    return head
