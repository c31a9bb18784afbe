"""Where a number ceased to be one: the input, the weight, or the first module whose output is NaN or Inf."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from traindx.monitor.hooks import Handle, Hook, remove
from traindx.monitor.parameters import plain_name
from traindx.vocabulary.telemetry import GRADIENT, INPUT, MODULE, WEIGHT

_DEEPEST = 6


class Origin(NamedTuple):
    """What was the first to be no number."""

    where: str
    """`input`, `weight`, `module` or `gradient`"""
    name: str
    """of the argument, the parameter or the module; empty for the model itself"""
    kind: str
    """the class of the module, or of what the parameter belongs to: `torch.nn.Linear`, `model.Head`"""
    value: str
    """`NaN` or `Inf`"""


def broken_value(value: object, depth: int = 0) -> str:
    """`NaN` or `Inf` where a value, or one within it, holds that; else nothing."""
    if isinstance(value, Tensor):
        if not (value.is_floating_point() or value.is_complex()) or value.is_meta or not value.numel():
            return ""
        if bool(torch.isfinite(value).all()):
            return ""
        return "NaN" if bool(torch.isnan(value).any()) else "Inf"
    if depth > _DEEPEST:
        return ""
    within: Iterator[object] = iter(())
    if isinstance(value, Mapping):
        within = iter(value.values())
    elif isinstance(value, (list, tuple)):
        within = iter(value)
    return next((found for one in within if (found := broken_value(one, depth + 1))), "")


def locate_forward(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], *, run: bool) -> Origin | None:
    """Find what made the output of a forward pass no number; with `run`, by running it again on what it was given.

    The generators of random numbers, buffers and attributes are put back to what they were.
    """
    for name, given in (*((f"argument {n}", one) for n, one in enumerate(args)), *kwargs.items()):
        if found := broken_value(given):
            return Origin(INPUT, name, type(given).__name__, found)
    for name, parameter in model.named_parameters():
        if found := broken_value(parameter.detach()):
            owner = model.get_submodule(name.rpartition(".")[0])
            return Origin(WEIGHT, plain_name(name), class_name(owner), found)
    if not run:
        return None
    with torch.no_grad(), _as_it_was(model):
        return _first_broken(model, args, kwargs)


def class_name(module: nn.Module) -> str:
    """The class of a module with the place it comes from; PyTorch's own under the name they are used by."""
    kind = type(module)
    place = "torch.nn" if kind.__module__.startswith("torch.nn.") else kind.__module__
    return f"{place}.{kind.__name__}"


class _Found(Exception):
    """Ends the forward pass at the module that was looked for."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        super().__init__(origin.name)


def _first_broken(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Origin | None:
    names = {id(module): plain_name(name) for name, module in model.named_modules()}
    open_modules: list[nn.Module] = []
    handles: list[Handle] = []

    def enter(module: nn.Module, given: tuple[Any, ...]) -> None:
        found = broken_value(given)
        if found and open_modules:  # code of the module around it broke the input, between its modules
            around = open_modules[-1]
            raise _Found(Origin(MODULE, names[id(around)], class_name(around), found))
        open_modules.append(module)

    def leave(module: nn.Module, _: object, output: object) -> None:
        if open_modules and open_modules[-1] is module:
            open_modules.pop()
        if found := broken_value(output):
            raise _Found(Origin(MODULE, names[id(module)], class_name(module), found))

    for module in model.modules():
        handles += [module.register_forward_pre_hook(Hook(enter)), module.register_forward_hook(Hook(leave))]
    try:
        model(*args, **kwargs)
    except _Found as end:
        return end.origin
    finally:
        remove(handles)
    return None


@contextmanager
def _as_it_was(model: nn.Module) -> Iterator[None]:
    """Put back what a forward pass may change.

    Buffers are exchanged for copies: the backward pass may need the true ones, and notices who wrote to them.
    """
    attributes = [(module, dict(module.__dict__), dict(module._buffers)) for module in model.modules()]
    for module, _, buffers in attributes:
        module._buffers.update({name: None if one is None else one.detach().clone() for name, one in buffers.items()})
    devices = {one.device for one in model.parameters() if one.is_cuda}
    drawn, numpy = random.getstate(), sys.modules.get("numpy")
    drawn_arrays = None if numpy is None else numpy.random.get_state()
    try:
        with torch.random.fork_rng(devices=list(devices)):
            yield
    finally:
        random.setstate(drawn)
        if numpy is not None:
            numpy.random.set_state(drawn_arrays)
        for module, was, buffers in attributes:
            module.__dict__.clear()
            module.__dict__.update(was)
            module._buffers.clear()
            module._buffers.update(buffers)


def locate_gradient(broken: list[str], model: nn.Module, gradients: Mapping[str, Tensor]) -> Origin | None:
    """The parameter whose gradient was the first to break: gradients are computed from output to input."""
    if not broken:
        return None
    name = broken[-1]
    owner_name = name.rpartition(".")[0]
    owners = {plain_name(path): module for path, module in model.named_modules()}
    owner = owners.get(owner_name, model)
    return Origin(GRADIENT, name, class_name(owner), broken_value(gradients[name]) or "NaN")
