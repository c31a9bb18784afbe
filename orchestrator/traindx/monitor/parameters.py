"""The parameters of a model by name: which of them are told one by one, and how to have their gradients."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from torch.nn.parameter import is_lazy

if TYPE_CHECKING:
    from torch import Tensor, nn

MOST_TOLD = 48
"""parameters whose norms are told one by one; of more, some from input to output"""
_MATRIX = 2
_WRAPPERS = re.compile(r"(?:^|(?<=\.))(?:module|_orig_mod|_fsdp_wrapped_module)\.")


def plain_name(name: str) -> str:
    """A name without what DDP, FSDP and `torch.compile` put around a model."""
    return _WRAPPERS.sub("", name)


def trainable(model: nn.Module) -> dict[str, Tensor]:
    """The parameters that are trained and have a size, by their plain names, from input to output."""
    found = {plain_name(name): one for name, one in model.named_parameters() if one.requires_grad and not is_lazy(one)}
    return {name: one for name, one in found.items() if one.is_floating_point() and not one.is_meta}


def told_one_by_one(parameters: dict[str, Tensor]) -> list[str]:
    """The parameters that rows name: weights, evenly chosen where there are many."""
    weights = [name for name, one in parameters.items() if one.dim() >= _MATRIX] or list(parameters)
    if len(weights) <= MOST_TOLD:
        return weights
    return [weights[round(n * (len(weights) - 1) / (MOST_TOLD - 1))] for n in range(MOST_TOLD)]


def gradient_of(parameter: Tensor) -> Tensor | None:
    """The numbers of a gradient, also of a sparse one, and of the part of it that this process holds."""
    gradient = parameter.grad
    if gradient is None or gradient.is_meta or not gradient.numel():
        return None
    gradient = gradient.detach()
    if gradient.is_sparse:
        return gradient.coalesce().values()
    local = getattr(gradient, "to_local", None)
    return local() if local is not None else gradient
