"""Hooks on modules and optimizers that leave no trace in a copy of the model, and none in the model once removed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, Protocol

import torch


class Handle(Protocol):
    """What PyTorch returns for a hook."""

    def remove(self) -> None:
        """Take the hook away."""


class Hook:
    """Calls a function, except where PyTorch traces a graph; a copy or a pickle of it does nothing."""

    __slots__ = ("_call",)

    def __init__(self, call: Callable[..., None]) -> None:
        self._call = call

    def __call__(self, *args: Any) -> None:
        """Do what is hooked here."""
        if not torch.compiler.is_compiling():
            self._call(*args)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        # `nullcontext().__exit__` takes any arguments, returns None, and is part of every Python.
        return getattr, (contextlib.nullcontext(), "__exit__")


def remove(handles: list[Handle]) -> None:
    """Remove hooks, and forget them."""
    while handles:
        handles.pop().remove()
