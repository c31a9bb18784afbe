"""What a probe hears of a training, whoever wrote it: calls of modules, backward passes, steps, epochs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import Field

from traindx.contract import Value


class Bounds(Value):
    """How much of a training is watched."""

    steps: int = Field(default=24, ge=2, le=100_000, description="optimizer steps after which the script is stopped")
    epoch_batches: int = Field(default=8, ge=2, le=100_000, description="batches after which a loader ends its epoch")
    seconds: float = Field(default=120.0, gt=0, le=86_400, description="the longest the script may run")


class Stopped(BaseException):
    """Ends the script that is watched. No `Exception`, so that `except Exception` around a loop lets it pass."""


class ModuleCall(NamedTuple):
    """One call of a module."""

    module: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    depth: int
    """0 for a module that no other module has called"""


class Watch:
    """Hears everything and does nothing; a probe overrides what it wants to know."""

    bounds: Bounds = Bounds()
    cuts_epochs = True
    """whether loaders end their epoch after `epoch_batches`"""

    def called(self, call: ModuleCall) -> None:
        """Before a module's forward."""

    def returned(self, call: ModuleCall, output: Any) -> None:
        """After a module's forward."""

    def backward_begins(self, roots: Sequence[Any], *, retained: bool) -> None:
        """Before a backward pass from these tensors."""

    def backward_ended(self, error: RuntimeError | None) -> bool:
        """After a backward pass; True to go on although it failed."""
        return error is None

    def step_begins(self, optimizer: Any) -> None:
        """Before `optimizer.step()`."""

    def step_ended(self, optimizer: Any) -> None:
        """After `optimizer.step()`."""

    def epoch_begins(self, loader: Any) -> None:
        """A loader starts to give its batches."""

    def batch(self, loader: Any, number: int, given: Any) -> Any:  # noqa: ARG002 - what a probe may look at
        """A batch on its way to the loop, or what the loop gets in its place."""
        return given

    def detached(self, source: Any, result: Any) -> None:
        """`source.detach()` was called."""

    def answer(self) -> Any:
        """What was found out."""
        raise NotImplementedError
