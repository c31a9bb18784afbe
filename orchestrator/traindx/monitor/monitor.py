"""Telemetry from inside a training: what each step was like, in a file that `traindx` reads."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import nn

from traindx.monitor.arguments import check_name, optimizers_of
from traindx.monitor.cadence import Cadence
from traindx.monitor.events import origin_row, start_row
from traindx.monitor.hooks import Handle, Hook, remove
from traindx.monitor.inputs import Evaluated
from traindx.monitor.placing import placed
from traindx.monitor.readings import Readings
from traindx.monitor.reporting import Reporter, contained
from traindx.monitor.sample import Sample
from traindx.monitor.step_clock import StepClock
from traindx.monitor.surroundings import device_of, memory_in_use, rank_of_job, rates_of, scale_of
from traindx.monitor.telemetry_file import TelemetryFile
from traindx.monitor.watching import Watch
from traindx.vocabulary.telemetry import END, EVENT, NON_FINITE

if TYPE_CHECKING:
    from pathlib import Path

    from torch.optim import Optimizer

    from traindx.monitor.locating import Origin
    from traindx.monitor.telemetry_file import Value

Batch = TypeVar("Batch")
OVERHEAD = 0.005
"""of the time of training, what the monitor may take by its own measurement"""
_FREE_SAMPLES, _FREE_ROWS = 0.05, 0.01
"""seconds that may be spent at the start of a run beyond its share"""
_LONGEST_SILENCE = 1.0
"""seconds after which a step is told of, whatever its turn"""


class Monitor:
    """Watches a training, and writes what it sees to `traindx-monitor.jsonl`; it changes nothing and raises nothing.

    `every` measures each n-th step in full; without it, as often as `overhead` allows. With an optimizer every step of
    it is a step here, and `step` only adds the loss; without one, `step` has to be called.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: Optimizer | Sequence[Optimizer] | None = None,
        *,
        folder: str | Path | None = None,
        name: str = "",
        scaler: Any = None,
        every: int | None = None,
        overhead: float = OVERHEAD,
    ) -> None:
        optimizers = optimizers_of(model, optimizer, every, overhead)
        check_name(name)
        self.reporter = Reporter()
        self._model, self._optimizers, self._scaler = model, optimizers, scaler
        self._clock, self._evaluated, self._waiting = StepClock(), Evaluated(), Readings()
        self._samples = Cadence(0.35 * overhead, _FREE_SAMPLES, every)
        self._rows = Cadence(0.15 * overhead, _FREE_ROWS)
        self._checks = Cadence(0.5 * overhead)
        self._step, self._told_at = 0, 0.0
        self._pending = self._is_manual = self._is_closed = False
        self._loss: float | torch.Tensor | None = None
        self._also: dict[str, Value] = {}
        self._untold: dict[str, Value] | None = None
        """the last step, where it had no row"""
        self.latest: dict[str, Value] = {}
        """the last row that was written"""
        self._handles: list[Handle] = []
        self._device = device_of(model)
        rank = rank_of_job()
        self._watch = Watch(model, alone=rank is None)
        self._sample = Sample(model, optimizers, self.reporter)
        self.path = placed(folder, name, rank)
        self._file = TelemetryFile(self.path, self.reporter)
        self._file.write({**start_row(model, optimizers, self._device), **_now()})
        self._attach()
        self._prepare()

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close("" if kind is None else kind.__name__)

    def step(self, loss: float | torch.Tensor | None = None, **values: float | torch.Tensor) -> None:
        """End a step, with its loss and whatever else is to be told of it (`epoch=2`, `grad_norm=norm`)."""
        began = time.perf_counter()
        self._end_by_hand(loss, values)
        self._clock.own += time.perf_counter() - began

    def after_backward(self) -> None:
        """Measure gradients now, before they are clipped; else they are measured as the optimizer gets them."""
        began = time.perf_counter()
        self._see_gradients()
        self._clock.own += time.perf_counter() - began

    def batch_ready(self) -> None:
        """Say that the data of the step is there, where the model itself is not called and so cannot tell."""
        self._clock.forward_begins()

    def evaluating(self) -> None:
        """Say that an evaluation takes a part of the present step, whose time then says nothing."""
        self._clock.evaluates()

    def batches(self, loader: Iterable[Batch]) -> Iterator[Batch]:
        """The batches of a loader, with the time that each takes to come."""
        return self._clock.fetching(loader)

    def log(self, values: Mapping[str, float | torch.Tensor]) -> None:
        """Write values of your own, such as `{"val_loss": 0.3}`, at the present step."""
        self._log(values)

    def close(self, reason: str = "") -> None:
        """Remove all hooks and end the file."""
        self._end(reason)
        remove(self._handles)
        self._sample.drop()
        self._file.close()
        self._is_closed = True

    @contained
    def tell_origin(self, origin: Origin | None) -> None:
        """Write what was the first to be no number, where something was."""
        if origin is not None:
            self._file.write({"step": self._step + 1, EVENT: NON_FINITE, **origin_row(origin), **_now()})

    @contained
    def _end_by_hand(self, loss: float | torch.Tensor | None, values: Mapping[str, float | torch.Tensor]) -> None:
        if self._is_closed:
            return
        self._is_manual = True
        if loss is not None:
            self._loss = loss.detach() if isinstance(loss, torch.Tensor) else loss
        self._also = {key: _number(value) for key, value in values.items()}
        self._finish_step()

    @contained
    def _see_gradients(self) -> None:
        if self._sample.active:
            self._sample.see_gradients()
        self._check_gradients()

    @contained
    def _log(self, values: Mapping[str, float | torch.Tensor]) -> None:
        self._write({key: _number(value) for key, value in values.items()})

    @contained
    def _end(self, reason: str) -> None:
        if not self._is_closed:
            self._settle()
            if self._untold is not None:
                self._tell(self._untold)
            self._file.write({"step": self._step, EVENT: END, "reason": reason or "closed", **_now()})

    @contained
    def _attach(self) -> None:
        model = self._model
        self._handles.append(model.register_forward_pre_hook(Hook(self._before_forward), with_kwargs=True))
        self._handles.append(model.register_forward_hook(Hook(self._after_forward), with_kwargs=True))
        for optimizer in self._optimizers:
            self._handles.append(optimizer.register_step_pre_hook(Hook(self._before_update)))
        for optimizer in self._optimizers[-1:]:
            self._handles.append(optimizer.register_step_post_hook(Hook(self._after_update)))

    def _before_forward(self, model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        began = time.perf_counter()
        self._see_inputs(model, args, kwargs)
        self._clock.own += time.perf_counter() - began

    @contained
    def _see_inputs(self, model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self._watch.is_locating:
            return
        if not model.training:
            self._clock.evaluates()
            self._evaluated.add(args, kwargs)
        elif torch.is_grad_enabled():
            self._clock.forward_begins()
            self._settle()
            if told := self._evaluated.take():
                self._write(told)
            if self._sample.active:
                self._sample.see_inputs(args, kwargs)

    def _after_forward(self, model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: object) -> None:
        began = time.perf_counter()
        self._see_output(model, args, kwargs, output)
        self._clock.own += time.perf_counter() - began

    @contained
    def _see_output(self, model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: object) -> None:
        if not model.training or not torch.is_grad_enabled() or self._watch.is_locating:
            return
        # To look at a device is to wait for it: there, only steps that are waited for anyway are looked at.
        if self._device.type == "cpu" or self._sample.active:
            self.tell_origin(self._watch.output(args, kwargs, output))
        own = getattr(output, "loss", None)
        if isinstance(own, torch.Tensor) and own.numel() == 1:
            self._loss = own.detach()

    def _before_update(self, *_: object) -> None:
        began = time.perf_counter()
        self._see_update()
        self._clock.own += time.perf_counter() - began

    @contained
    def _see_update(self) -> None:
        self._settle()
        if self._sample.active:
            self._sample.before_update()
        self._check_gradients()

    def _check_gradients(self) -> None:
        step = self._step + 1
        if self._sample.active or (self._device.type == "cpu" and self._checks.is_due(step)):
            began = time.perf_counter()
            self.tell_origin(self._watch.gradients(self._sample.gradients))
            self._checks.done(step, time.perf_counter() - began)

    def _after_update(self, *_: object) -> None:
        if not self._is_manual:
            self._pending = True

    @contained
    def _settle(self) -> None:
        """End the step that an optimizer made and nobody has spoken of since."""
        if self._pending:
            self._finish_step()

    def _finish_step(self) -> None:
        self._pending = False
        self._step += 1
        own = self._clock.own
        took, waited = self._clock.end()
        if took is not None:
            for cadence in (self._samples, self._rows, self._checks):
                cadence.stepped(took)
        began = time.perf_counter()
        values = self._values(took, waited)
        if self._sample.active:
            values |= self._sampled()
            self._samples.done(self._step, own + time.perf_counter() - began)
            self._tell(values)
        elif self._is_worth_telling(values, began):
            self._tell(values)
            self._rows.done(self._step, time.perf_counter() - began)
        else:
            self._untold = values
        self._loss, self._also = None, {}
        self._prepare()

    def _values(self, took: float | None, waited: float | None) -> dict[str, Value]:
        values: dict[str, Value] = {}
        if isinstance(self._loss, torch.Tensor) and self._loss.device.type != "cpu":
            self._waiting = Readings()
            self._waiting.add("loss", self._loss)
        elif self._loss is not None:
            values["loss"] = float(self._loss)
        if took is not None:
            values["step_time"] = took
        if waited is not None:
            values["data_time"] = waited
        return values | self._also

    def _sampled(self) -> dict[str, Value]:
        waiting, self._waiting = self._waiting, Readings()
        found = self._sample.finish(waiting)
        return {**found, **memory_in_use(self._device), **scale_of(self._scaler), **self._also}

    def _is_worth_telling(self, values: dict[str, Value], now: float) -> bool:
        """Whether this step has its turn, was long in coming, or is the first whose loss is no number."""
        loss, before = values.get("loss"), self.latest.get("loss")
        breaks = isinstance(loss, float) and math.isnan(loss) and not (isinstance(before, float) and math.isnan(before))
        return breaks or self._rows.is_due(self._step) or now - self._told_at > _LONGEST_SILENCE

    def _tell(self, values: dict[str, Value]) -> None:
        self._told_at, self._untold = time.perf_counter(), None
        self._write({**values, **self._waiting.fetch(), **rates_of(self._optimizers)})

    def _write(self, values: Mapping[str, Value]) -> None:
        row: dict[str, Value] = {"step": self._step, **_now(), **values}
        self._file.write(row)
        self.latest = row

    @contained
    def _prepare(self) -> None:
        """Make ready for the next step."""
        self._waiting = Readings()
        if self._samples.is_due(self._step + 1) and not self._is_closed:
            self._sample.begin()
        elif self._sample.active:
            self._sample.drop()


def _now() -> dict[str, Value]:
    return {"timestamp": round(time.time(), 3)}


def _number(value: float | torch.Tensor) -> float:
    return float(value.detach()) if isinstance(value, torch.Tensor) else float(value)
