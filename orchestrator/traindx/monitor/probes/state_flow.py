"""How recurrent state flows through the training steps, and which graph it brings along.

## What it does
Watches every recurrent layer (`nn.LSTM`, `nn.GRU`, `nn.RNN`, their cells, and modules that get their own output back)
for some steps, and measures the autograd graph behind the state that each call is given. Loaders end their epochs
early, so that the start of an epoch is seen too. A backward pass that fails because the graph of an earlier step is
gone is skipped, so that the growth can be measured.

## How to read it
A depth that grows with every step proves that nothing detaches the state: the tensor is named as the script names it.
`behind` says how many backward passes ago the oldest graph was made. A sound state has 0 in every step, keeps its
values from step to step, and starts anew where the data does.

## Limits
States that leave Python objects (a C++ extension), and what happens after the steps that were watched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pydantic import Field

from traindx.contract import Value
from traindx.monitor.probing.declaration import ProbeOutput, measured, proven
from traindx.monitor.probing.instruments import Instruments
from traindx.monitor.probing.recurrence import Layer, Recurrence, behind
from traindx.monitor.probing.state_faults import Heard, faults, first_calls, layer_name, parts_of, sound
from traindx.monitor.probing.watching import Bounds, ModuleCall, Watch
from traindx.runtime import NoData

SETTLES = {
    "state-not-detached",
    "cell-state-not-detached",
    "detach-result-discarded",
    "retain-graph-workaround",
    "state-detached-too-early",
    "state-reset-every-step",
    "state-never-reset",
    "state-with-shuffled-batches",
}
ASKED_ABOUT = {"state-handling"}
SIGNALS = {
    "probed-state-not-detached": proven("the graph behind the carried state grows with every step"),
    "probed-cell-state-not-detached": proven("the graph behind one part of the state grows"),
    "probed-detach-result-discarded": proven("the state is carried on as it was before `detach()`"),
    "probed-retain-graph": proven("the graph behind the state grows, and backward retains it"),
    "probed-state-detached-too-early": proven("no loss reaches the recurrent layer"),
    "probed-state-reset-every-step": proven("each step of length 1 starts from an empty state"),
    "probed-state-never-reset": proven("the state goes on where the data starts again"),
    "probed-state-with-shuffled-batches": proven("the state goes from batch to batch of a random order"),
    "probed-state-sound": measured("the state is carried on, detached and reset as it should be"),
}
_RANDOM = ("RandomSampler", "WeightedRandomSampler", "SubsetRandomSampler")
_FREED = ("backward through the graph a second time", "modified by an inplace operation")
"""what backward says of a graph that an earlier step has used up"""


class StateCourse(Value):
    """One tensor of a state, over the windows (from one backward pass to the next)."""

    name: str = Field(description="as the script names it")
    place: str
    layer: str
    depth: list[int] = Field(description="operations behind it at the first call of each window")
    behind: list[int] = Field(description="backward passes since the oldest graph that it carries")
    carried: list[bool] = Field(description="whether it held what the call before gave back")


class StateFlow(ProbeOutput):
    """Every recurrent state, and what is wrong with it."""

    states: list[StateCourse] = Field(default_factory=list)


class StateWatch(Watch):
    """Listens to recurrent layers."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds()
        self.recurrence = Recurrence()
        self.heard = Heard()
        self.steps = 0
        self._epochs: dict[int, int] = {}
        self._kept: list[Any] = []

    def called(self, call: ModuleCall) -> None:
        """Measure the state that goes in."""
        self.recurrence.called(call)

    def returned(self, call: ModuleCall, output: Any) -> None:
        """Mark the state that comes out."""
        self.recurrence.returned(call, output)

    def backward_begins(self, roots: Sequence[Any], *, retained: bool) -> None:
        """End the window."""
        self.heard.retained |= retained
        self.recurrence.backward(roots)

    def backward_ended(self, error: RuntimeError | None) -> bool:
        """Go on after an error that only the carried graph brings about."""
        if error is None:
            return True
        ours = any(text in str(error) for text in _FREED) and self.recurrence.undetached()
        self.heard.skipped += ours
        return ours

    def step_ended(self, optimizer: Any) -> None:
        """Count, and note what is trained."""
        self.steps += 1
        self.heard.optimised |= {id(one) for group in optimizer.param_groups for one in group["params"]}

    def epoch_begins(self, loader: Any) -> None:
        """Note that the data starts again, where it is not for the first time."""
        data = loader.dataset
        self._kept.append(data)
        self._epochs[id(data)] = self._epochs.get(id(data), 0) + 1
        if self._epochs[id(data)] > 1 and _grad_enabled():
            self.recurrence.restart()

    def batch(self, loader: Any, number: int, given: Any) -> Any:  # noqa: ARG002 - the order is what counts
        """Note in which order the data comes."""
        if _grad_enabled():
            self.recurrence.shuffled = type(getattr(loader, "sampler", None)).__name__ in _RANDOM
        return given

    def detached(self, source: Any, result: Any) -> None:  # noqa: ARG002 - what it is called on is told from its source
        """Note where a state is detached."""
        for layer in self.recurrence.layers.values():
            layer.saw_detach(source)

    def answer(self) -> StateFlow:
        """Judge every layer."""
        layers = [one for one in self.recurrence.layers.values() if one.calls]
        layers = [one for one in layers if one.builtin] or layers
        if not layers:
            raise NoData("no recurrent layer was called with gradients on, and no module got its own output back")
        remarks = []
        if self.heard.skipped:
            remarks.append(
                f"{self.heard.skipped} backward passes failed on the graph of an earlier step, and were skipped"
            )
        signals = [signal for layer in layers for signal in faults(layer, self.heard)]
        if not signals:
            signals = [signal for layer in layers for signal in sound(layer)]
        claims = "; ".join(signal.claim for signal in signals)
        windows = max(len(first_calls(layer)) for layer in layers)
        return StateFlow(
            summary=claims or f"no fault of the state was seen in {windows} windows, and none can be excluded",
            steps=self.steps,
            remarks=remarks,
            states=[course for layer in layers for course in _courses(layer)],
            signals=signals,
        )


WATCH = StateWatch


def probe_state_flow(step: Callable[[], Any], steps: int = 12) -> StateFlow:
    """Call `step` (one training step: forward, backward, update) and follow every recurrent state through the steps.

    `step` may also be the whole training: it is stopped after that many optimizer steps.
    """
    watch = StateWatch(Bounds(steps=max(2, steps)))
    instruments = Instruments(watch)

    def train() -> None:
        for _ in range(steps):
            step()

    instruments.run(train)
    return watch.answer()


def _grad_enabled() -> bool:
    import torch

    return bool(torch.is_grad_enabled())


def _courses(layer: Layer) -> Iterator[StateCourse]:
    calls = first_calls(layer)
    for part in range(parts_of(layer)):
        named = layer.names.get(part) or layer.place
        has = [call for call in calls if part < len(call.parts)]
        yield StateCourse(
            name=layer.part_name(part),
            place=named.place if named else "",
            layer=layer_name(layer),
            depth=[call.parts[part].reach.depth for call in has][:64],
            behind=[behind(call, part) for call in has][:64],
            carried=[call.parts[part].carried for call in has][:64],
        )
