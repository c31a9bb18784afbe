"""A model, a batch and a loss as the probes take them."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

LossFunction = Callable[..., Any]


def loss_of(model: Any, batch: Any, loss_fn: LossFunction | None) -> Any:
    """The loss of a batch: `loss_fn(model(inputs), target)` for a pair, else `loss_fn(model(batch))`.

    Without `loss_fn` the model's own answer is the loss, or has it as `.loss`.
    """
    inputs, targets = split(batch)
    output = model(**inputs) if isinstance(inputs, Mapping) else model(inputs)
    if loss_fn is not None:
        return loss_fn(output, *targets)
    return getattr(output, "loss", output)


def split(batch: Any) -> tuple[Any, tuple[Any, ...]]:
    """What goes into the model, and what comes after it."""
    if isinstance(batch, (tuple, list)) and len(batch) > 1:
        return batch[0], tuple(batch[1:])
    return (batch[0] if isinstance(batch, (tuple, list)) else batch), ()


def copied(model: Any) -> Any:
    """A copy to experiment on, so that the user's own model stays as it is."""
    return copy.deepcopy(model)


@contextlib.contextmanager
def same_randomness() -> Iterator[None]:
    """Random numbers go on afterwards as if nothing had been drawn."""
    import torch

    state = torch.random.get_rng_state()
    try:
        yield
    finally:
        torch.random.set_rng_state(state)


def number(tensor: Any) -> float:
    """A loss as a number."""
    return float(tensor.detach().float().mean()) if hasattr(tensor, "detach") else float(tensor)


def parameter_names(roots: Mapping[int, Any], optimizer: Any = None) -> dict[int, str]:
    """The name of each parameter, by its id, from the outermost modules that were called."""
    found: dict[int, str] = {}
    several = len(roots) > 1
    for name, root in ((_root_name(one), one) for one in roots.values()):
        for inner, parameter in root.named_parameters():
            found.setdefault(id(parameter), f"{name}.{inner}" if several else inner)
    groups = optimizer.param_groups if optimizer is not None else []
    for number_, parameter in enumerate(one for group in groups for one in group["params"]):
        found.setdefault(id(parameter), f"parameter {number_}")
    return found


def _root_name(module: Any) -> str:
    return type(module).__name__.lower()
