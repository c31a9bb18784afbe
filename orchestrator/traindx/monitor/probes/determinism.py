"""Whether two runs with one seed are the same, and where they first part.

## What it does
Runs the training twice with the same seed and compares, step by step, the batch, the loss, the gradient and the value
of each parameter, to the last bit.

## How to read it
The first thing that differs names where to look: a batch (order, augmentation, workers), the loss (dropout, sampling,
an operation that is not deterministic), a gradient (an atomic sum on a GPU), a parameter (the optimizer).

## Limits
The steps that were watched; both runs are on this machine. Tensors over four million elements are compared by sums.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import Field

from traindx.contract import Value
from traindx.monitor.probing.declaration import ProbeOutput, finding, measured
from traindx.monitor.probing.graphs import tensors_in
from traindx.monitor.probing.instruments import Instruments
from traindx.monitor.probing.training import number, parameter_names, same_randomness
from traindx.monitor.probing.watching import Bounds, ModuleCall, Watch
from traindx.runtime import NoData

SETTLES: set[str] = set()
ASKED_ABOUT = {"evaluation"}
SIGNALS = {
    "probed-not-deterministic": measured("two runs with one seed part"),
    "probed-deterministic": measured("two runs with one seed are the same to the last bit"),
}
STEPS = 12
REPEATS = 2
LARGEST = 4_000_000


class Step(Value):
    """What one step computed, as checksums by name, in the order in which it was computed."""

    sums: dict[str, str]


class Determinism(ProbeOutput):
    """The course of a run, or what two of them have in common."""

    course: list[Step] = Field(default_factory=list)
    first_difference: str = Field(default="", description="the step and the tensor; empty where there is none")


class CourseWatch(Watch):
    """Writes checksums down."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds(steps=STEPS)
        self.course: list[Step] = []
        self._now: dict[str, str] = {}
        self._roots: dict[int, Any] = {}

    def called(self, call: ModuleCall) -> None:
        """What goes into the model."""
        if call.depth == 0:
            self._roots[id(call.module)] = call.module
            for place, tensor in enumerate(tensors_in((call.args, dict(call.kwargs)))):
                self._now.setdefault(f"input {len(self._now)}.{place}", checksum(tensor))

    def backward_begins(self, roots: Sequence[Any], *, retained: bool) -> None:  # noqa: ARG002 - as it comes
        """The loss."""
        for root in roots:
            self._now[f"loss {len(self._now)}"] = f"{number(root).hex()}"

    def step_begins(self, optimizer: Any) -> None:
        """The gradients."""
        self._tensors(optimizer, "gradient", lambda parameter: parameter.grad)

    def step_ended(self, optimizer: Any) -> None:
        """The parameters, and with them the end of the step."""
        self._tensors(optimizer, "parameter", lambda parameter: parameter)
        self.course.append(Step(sums=self._now))
        self._now = {}

    def _tensors(self, optimizer: Any, what: str, of: Callable[[Any], Any]) -> None:
        names = parameter_names(self._roots, optimizer)
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                tensor = of(parameter)
                if tensor is not None:
                    self._now[f"{what} {names.get(id(parameter), '')}"] = checksum(tensor)

    def answer(self) -> Determinism:
        """The course, to be compared."""
        if not self.course:
            raise NoData("no optimizer step was seen")
        return Determinism(summary=f"{len(self.course)} steps", steps=len(self.course), course=self.course)


WATCH = CourseWatch


def probe_determinism(train: Callable[[], Any], seed: int = 0, steps: int = STEPS) -> Determinism:
    """Run `train` twice from the same seed; it builds everything it needs itself, and is stopped after some steps."""
    import torch

    courses = []
    for _ in range(REPEATS):
        watch = CourseWatch(Bounds(steps=max(2, steps)))
        with same_randomness():
            torch.manual_seed(seed)
            Instruments(watch).run(train)
        courses.append(watch.answer().course)
    return judged(*courses)


def compare(outputs: Sequence[Mapping[str, Any]]) -> Determinism:
    """The answer of two runs of a script."""
    return judged(*([Step.model_validate(row) for row in one["course"]] for one in outputs))


def judged(first: Sequence[Step], second: Sequence[Step]) -> Determinism:
    """The first step and tensor in which two courses differ."""
    for number_, (one, other) in enumerate(zip(first, second, strict=False), 1):
        for name, value in one.sums.items():
            if other.sums.get(name) != value:
                return _parted(number_, name.rpartition(" ")[0] if name.startswith(("loss", "input")) else name, first)
    if len(first) != len(second):
        return _parted(min(len(first), len(second)) + 1, "the number of steps", first)
    said = f"two runs from one seed are the same in all {len(first)} steps"
    return Determinism(summary=said, steps=len(first), signals=[finding("probed-deterministic", said)])


def _parted(step: int, name: str, course: Sequence[Step]) -> Determinism:
    said = f"two runs from one seed part at step {step}: {name} is the first to differ"
    signal = finding("probed-not-deterministic", said, step=step, first_different=name)
    return Determinism(summary=said, steps=len(course), first_difference=f"step {step}, {name}", signals=[signal])


def checksum(tensor: Any) -> str:
    """Equal only for tensors that are equal to the last bit."""
    import torch

    whole = tensor.detach().to_dense() if tensor.is_sparse else tensor.detach()
    if whole.numel() > LARGEST:
        return f"{float(whole.double().sum()).hex()} {float(whole.double().abs().sum()).hex()}"
    data = whole.contiguous().cpu().reshape(-1).view(torch.uint8).numpy().tobytes()
    return hashlib.blake2b(data, digest_size=16).hexdigest()
