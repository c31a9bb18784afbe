"""What the output of a model depends on: its input, the other samples of the batch, later time steps.

## What it does
Calls the model in evaluation mode with a batch, then with parts of it changed, and compares the outputs: another input
altogether, other neighbours of the first sample, another second half of each sequence.

## How to read it
An output that does not move with the input is constant, whatever it is trained on. One that moves with its neighbours
in evaluation mode mixes samples: a softmax or a mean over the batch, normalisation that is still training. One that
moves with later time steps sees the future: wrong for a model that has to predict it, right for one that reads in both
directions.

## Limits
One batch, the weights as they are. Inputs that are no tensors, and outputs without a batch dimension, are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pydantic import Field

from traindx.contract import Signal
from traindx.monitor.probing.declaration import ProbeOutput, finding, measured
from traindx.monitor.probing.training import copied, same_randomness, split
from traindx.monitor.probing.watching import Bounds, ModuleCall, Watch
from traindx.runtime import NoData

SETTLES = {"constant-inputs", "missing-eval-mode", "wrong-softmax-dim"}
ASKED_ABOUT: set[str] = set()
SIGNALS = {
    "probed-input-ignored": measured("the output does not depend on the input"),
    "probed-neighbours-matter": measured("in evaluation mode, a sample's output depends on the others"),
    "probed-future-matters": measured("the output at a time step depends on later ones"),
    "probed-input-matters": measured("the output depends on the sample's own input, and on no neighbour"),
}
STEPS = 2
TOLERANCE = 1e-5
"""of the output's own size: single precision in another order of summation"""


class InputDependence(ProbeOutput):
    """How far the first sample's output moves, in units of the outputs' own size; null where it was not tried."""

    with_input: float | None = None
    with_neighbours: float | None = None
    with_future: float | None = Field(default=None, description="outputs of the first half, when the second changes")
    repeated: float = Field(default=0.0, description="when nothing changes: above zero the model is random by itself")


class InputWatch(Watch):
    """Keeps the first call of the outermost model, and experiments on a copy of it."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds(steps=STEPS)
        self.found: InputDependence | None = None
        self.why = "no model was called with a tensor of at least two samples"
        self.steps = 0
        self._call: ModuleCall | None = None

    def called(self, call: ModuleCall) -> None:
        """The largest model that was called by no other."""
        if call.depth or not hasattr(call.module, "parameters") or _batch_of(call) is None:
            return
        if self._call is None or _size(call.module) > _size(self._call.module):
            self._call = call

    def step_ended(self, optimizer: Any) -> None:  # noqa: ARG002 - every optimizer counts
        """Try it out once the weights have moved."""
        self.steps += 1
        call, found = self._call, _batch_of(self._call) if self._call is not None else None
        if call is None or found is None or self.found is not None:
            return
        key, inputs = found

        def asked(model: Any, given: Any) -> Any:
            if key is None:
                return model(given, *call.args[1:], **call.kwargs)
            return model(*call.args, **{**call.kwargs, key: given})

        try:
            self.found = _tried(call.module, inputs, asked)
        except NoData as nothing:
            self.why = str(nothing)

    def answer(self) -> InputDependence:
        """What was found."""
        if self.found is None:
            raise NoData(self.why)
        return self.found.model_copy(update={"steps": self.steps})


WATCH = InputWatch


def probe_input_dependence(model: Any, batch: Any) -> InputDependence:
    """Change parts of a batch, and see what the output of the model does."""
    inputs, _ = split(batch)
    if not hasattr(inputs, "shape") or len(inputs) < 2:
        raise NoData("the input has to be a tensor of at least two samples")
    return _tried(model, inputs, lambda twin, given: twin(given))


def _batch_of(call: ModuleCall) -> tuple[str | None, Any] | None:
    """The tensor of several samples that a model was given: the first argument, or the first by name."""
    import torch

    given = [(None, call.args[0])] if call.args else list(call.kwargs.items())
    for key, value in given:
        if isinstance(value, torch.Tensor) and len(value.shape) > 1 and len(value) > 1:
            return key, value
    return None


def _tried(model: Any, inputs: Any, asked: Callable[[Any, Any], Any]) -> InputDependence:
    import torch

    with same_randomness(), torch.no_grad():
        twin = copied(model).eval()

        def output(given: Any) -> Any:
            answer = asked(twin, given)
            answer = getattr(answer, "logits", answer)
            return (answer[0] if isinstance(answer, (tuple, list)) else answer).detach().double()

        plain = output(inputs)
        if not hasattr(plain, "shape") or not len(plain.shape) or len(plain) != len(inputs):
            raise NoData("the output has no batch dimension")
        size = float(plain.abs().mean()) + float(plain.std()) or 1.0
        first = plain[0]
        other = torch.cat([inputs[:1], _changed(inputs[1:])])
        length = inputs.shape[1] if len(inputs.shape) > (1 if not inputs.is_floating_point() else 2) else 0
        timed = length > 1 and len(plain.shape) > 1 and plain.shape[1] == length
        half = length // 2
        found = InputDependence(
            summary="",
            with_input=_moved(output(_changed(inputs)), plain, size),
            with_neighbours=_moved(output(other)[0], first, size),
            with_future=_moved(output(_later(inputs, half))[:, :half], plain[:, :half], size) if timed else None,
            repeated=_moved(output(inputs), plain, size),
        )
    signals = list(_signals(found))
    return found.model_copy(update={"signals": signals, "summary": "; ".join(one.claim for one in signals)})


def _signals(found: InputDependence) -> Iterator[Signal]:
    bar = max(TOLERANCE, 2 * found.repeated)
    if found.with_input is not None and found.with_input <= bar:
        yield finding("probed-input-ignored", f"another input moves the output by {found.with_input:.2g} of its size")
        return
    mixed = found.with_neighbours is not None and found.with_neighbours > bar
    if mixed:
        said = f"other neighbours in the batch move a sample's output by {found.with_neighbours:.2g} of its size"
        yield finding("probed-neighbours-matter", said)
    if found.with_future is not None and found.with_future > bar:
        said = f"a change of the second half of the sequence moves the first half's output by {found.with_future:.2g}"
        yield finding("probed-future-matters", said)
    if not mixed and found.with_input is not None:
        said = f"another input moves the output by {found.with_input:.2g} of its size, other neighbours do not"
        yield finding("probed-input-matters", said)


def _changed(inputs: Any) -> Any:
    """Another input of the same kind: shifted and negated numbers, other tokens of those that are there."""
    import torch

    if inputs.is_floating_point():
        return -inputs + inputs.std() * torch.randn_like(inputs) + inputs.std() * 0.5
    flat = inputs.reshape(-1)
    return torch.flip(flat, (0,)).roll(1).reshape(inputs.shape)


def _later(inputs: Any, half: int) -> Any:
    import torch

    return torch.cat([inputs[:, :half], _changed(inputs[:, half:])], 1)


def _moved(one: Any, other: Any, size: float) -> float:
    return float((one - other).abs().max()) / size


def _size(module: Any) -> int:
    return sum(parameter.numel() for parameter in module.parameters())
