"""Hooks on torch itself, so that a script is watched without a change of its code; taken off again afterwards."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterator
from typing import Any

from traindx.monitor.probing.watching import ModuleCall, Stopped, Watch


class Instruments:
    """Tells a watch what a training does, and stops it in time."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.steps = 0
        self.why = ""
        """why the training was stopped; empty while it runs"""
        self._depth = 0
        self._quiet = 0
        self._ends = time.monotonic() + watch.bounds.seconds

    @contextlib.contextmanager
    def installed(self) -> Iterator[Instruments]:
        """The hooks, as long as the block lasts."""
        from torch.optim import optimizer as optimizers

        with contextlib.ExitStack() as held:
            for handle in (
                optimizers.register_optimizer_step_pre_hook(self._step_begins),
                optimizers.register_optimizer_step_post_hook(self._step_ended),
            ):
                held.callback(handle.remove)
            self._replace_methods(held)
            yield self

    def run(self, train: Callable[[], Any]) -> None:
        """Run something under the hooks until it ends or is stopped."""
        with self.installed(), contextlib.suppress(Stopped):
            train()

    @contextlib.contextmanager
    def quiet(self) -> Iterator[None]:
        """No events from what a probe itself computes."""
        self._quiet += 1
        try:
            yield
        finally:
            self._quiet -= 1

    def stop(self, why: str) -> None:
        """End the training."""
        self.why = self.why or why
        raise Stopped(self.why)

    def _check(self) -> None:
        if self.why:
            raise Stopped(self.why)
        if time.monotonic() > self._ends:
            self.stop(f"stopped after {self.watch.bounds.seconds:g} s")

    def _call(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(module: Any, *args: Any, **kwargs: Any) -> Any:
            if self._quiet:
                return original(module, *args, **kwargs)
            self._check()
            made = ModuleCall(module, args, kwargs, self._depth)
            with self.quiet():
                self.watch.called(made)
            self._depth += 1
            try:
                output = original(module, *args, **kwargs)
            finally:
                self._depth -= 1
            with self.quiet():
                self.watch.returned(made, output)
            return output

        return call

    def _step_begins(self, optimizer: Any, args: Any, kwargs: Any) -> None:  # noqa: ARG002 - what torch hands over
        if not self._quiet:
            self._check()
            with self.quiet():
                self.watch.step_begins(optimizer)

    def _step_ended(self, optimizer: Any, args: Any, kwargs: Any) -> None:  # noqa: ARG002 - what torch hands over
        if self._quiet:
            return
        self.steps += 1
        with self.quiet():
            self.watch.step_ended(optimizer)
        if self.steps >= self.watch.bounds.steps:
            self.stop(f"stopped after {self.steps} steps")

    def _replace_methods(self, held: contextlib.ExitStack) -> None:
        import torch
        from torch.utils.data import DataLoader

        for owner, name, made in (
            (torch.nn.Module, "__call__", self._call),
            (torch.Tensor, "backward", self._backward),
            (torch.autograd, "backward", self._backward),
            (torch.Tensor, "detach", self._detach),
            (DataLoader, "__iter__", self._iterate),
        ):
            original = getattr(owner, name)
            setattr(owner, name, functools.wraps(original)(made(original)))
            held.callback(setattr, owner, name, original)

    def _backward(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def backward(roots: Any, *args: Any, **kwargs: Any) -> Any:
            if self._quiet:
                return original(roots, *args, **kwargs)
            self._check()
            error: RuntimeError | None = None
            with self.quiet():
                several = list(roots) if isinstance(roots, (tuple, list)) else [roots]
                self.watch.backward_begins(several, retained=bool(kwargs.get("retain_graph") or args[1:2] == (True,)))
                try:
                    original(roots, *args, **kwargs)
                except RuntimeError as failure:
                    error = failure
                go_on = self.watch.backward_ended(error)
            if error is not None and not go_on:
                raise error
            return None

        return backward

    def _detach(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def detach(tensor: Any) -> Any:
            result = original(tensor)
            if not self._quiet:
                with self.quiet():
                    self.watch.detached(tensor, result)
            return result

        return detach

    def _iterate(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def batches(loader: Any) -> Iterator[Any]:
            if self._quiet:
                yield from original(loader)
                return
            self._check()
            with self.quiet():
                self.watch.epoch_begins(loader)
            most = self.watch.bounds.epoch_batches if self.watch.cuts_epochs else None
            for number, given in enumerate(original(loader)):
                if number == most:
                    return
                yield self.watch.batch(loader, number, given)

        return batches
