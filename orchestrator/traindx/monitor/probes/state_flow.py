"""How recurrent state flows through the training steps, and which graph it brings along.

## What it does
Watches every recurrent layer (`nn.LSTM`, `nn.GRU`, `nn.RNN`, their cells, and modules that get their own earlier output
back) for some steps, and measures the autograd graph behind the state that each call is given. Loaders end their epochs
early, so that the start of an epoch is seen too. A backward pass that fails because the graph of an earlier step is gone
is skipped, so that the growth can be measured.

## How to read it
A depth that grows with every step proves that nothing detaches the state: the tensor is named as the script names it.
`behind` says how many backward passes ago the oldest graph was made. A sound state has 0 in every step, keeps its values
from step to step, and starts anew where the data does.

## Limits
States that leave Python objects (a C++ extension), and what happens after the steps that were watched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from pydantic import Field

from traindx.contract import Signal, SignalKind, Value
from traindx.monitor.probing.declaration import ProbeOutput, finding
from traindx.monitor.probing.instruments import Instruments
from traindx.monitor.probing.recurrence import Layer, Recurrence, behind
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
SIGNALS = {
    "probed-state-not-detached": SignalKind("measured: the graph behind the carried state grows with every step"),
    "probed-cell-state-not-detached": SignalKind("measured: the graph behind one part of the state grows"),
    "probed-detach-result-discarded": SignalKind("measured: the state is carried on as it was before `detach()`"),
    "probed-retain-graph": SignalKind("measured: the graph behind the state grows, and backward retains it"),
    "probed-state-detached-too-early": SignalKind("measured: no loss reaches the recurrent layer"),
    "probed-state-reset-every-step": SignalKind("measured: each step of length 1 starts from an empty state"),
    "probed-state-never-reset": SignalKind("measured: the state goes on where the data starts again"),
    "probed-state-with-shuffled-batches": SignalKind("measured: the state goes from batch to batch of a random order"),
    "probed-state-sound": SignalKind("measured: the state is carried on, detached and reset as it should be"),
}
FEWEST = 3
"""windows that show a course: two points lie on every line"""
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
        self.retained = False
        self.skipped = 0
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
        self.retained |= retained
        self.recurrence.backward(roots)

    def backward_ended(self, error: RuntimeError | None) -> bool:
        """Go on after an error that only the carried graph brings about."""
        if error is None:
            return True
        ours = any(text in str(error) for text in _FREED) and self.recurrence.undetached()
        self.skipped += ours
        return ours

    def step_ended(self, optimizer: Any) -> None:  # noqa: ARG002 - every optimizer counts
        """Count."""
        self.steps += 1

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
        if self.skipped:
            remarks.append(f"{self.skipped} backward passes failed on the graph of an earlier step, and were skipped")
        signals = [signal for layer in layers for signal in _faults(layer, self)]
        if not signals:
            signals = [signal for layer in layers for signal in _sound(layer)]
        claims = "; ".join(signal.claim for signal in signals)
        windows = max(len(_first_calls(layer)) for layer in layers)
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


def _first_calls(layer: Layer) -> list[Any]:
    return [call for call in layer.calls if call.place_in_window == 0]


def _parts(layer: Layer) -> int:
    return max((len(call.parts) for call in layer.calls), default=0)


def _courses(layer: Layer) -> Iterator[StateCourse]:
    calls = _first_calls(layer)
    for part in range(_parts(layer)):
        named = layer.names.get(part) or layer.place
        has = [call for call in calls if part < len(call.parts)]
        yield StateCourse(
            name=layer.part_name(part),
            place=named.place if named else "",
            layer=_layer_name(layer),
            depth=[call.parts[part].reach.depth for call in has][:64],
            behind=[behind(call, part) for call in has][:64],
            carried=[call.parts[part].carried for call in has][:64],
        )


def _layer_name(layer: Layer) -> str:
    return f"{layer.named.name} ({layer.kind})" if layer.named and layer.named.name else layer.kind


def _faults(layer: Layer, watch: StateWatch) -> Iterator[Signal]:
    growing = [part for part in range(_parts(layer)) if _grows(layer, part, failed=bool(watch.skipped))]
    if growing:
        yield _undetached(layer, growing, watch)
        return
    if not layer.builtin:
        return
    yield from _cut_off(layer)
    emptied = list(_emptied(layer))
    yield from emptied
    if not emptied:
        yield from _order(layer)


def _grows(layer: Layer, part: int, *, failed: bool) -> bool:
    """Whether the graph behind a part keeps its oldest step while the windows go on."""
    longest = run = 0
    for before, after in pairwise(_first_calls(layer)):
        oldest = after.window - behind(after, part)
        keeps = behind(after, part) > 0 and oldest == before.window - behind(before, part)
        run = run + 1 if keeps else 0
        longest = max(longest, run)
    # One step already shows it where backward failed on that very graph.
    return longest >= FEWEST or (failed and longest >= 1)


def _undetached(layer: Layer, growing: list[int], watch: StateWatch) -> Signal:
    calls = [call for call in _first_calls(layer) if growing[0] < len(call.parts)]
    depths = [call.parts[growing[0]].reach.depth for call in calls]
    rising = next(at for at, (low, high) in enumerate(pairwise(depths)) if high > low)
    end = next((at for at in range(rising + 1, len(depths)) if depths[at] < depths[at - 1]), len(depths))
    shown = depths[rising:end]
    names = " and ".join(f"`{layer.part_name(part)}`" for part in growing)
    named = layer.names.get(growing[0]) or layer.place
    place = named.place if named else ""
    carries = "carry" if len(growing) > 1 else "carries"
    said = f"{names} {carries} the graph of every earlier step: depth {shown[0]} -> {shown[-1]} in {len(shown)} steps"
    said += f" ({place})" if place else ""
    kind, cited = "probed-state-not-detached", [named] if named else []
    if layer.discarded is not None:
        kind, cited = "probed-detach-result-discarded", [layer.discarded, *cited]
        said += f"; the result of the `detach()` at {layer.discarded.place} is not what goes on"
    elif watch.retained:
        kind = "probed-retain-graph"
        said += "; backward is told to retain it"
    elif len(growing) < _parts(layer):
        kind = "probed-cell-state-not-detached"
        kept = [layer.part_name(part) for part in range(_parts(layer)) if part not in growing]
        said += f"; {', '.join(f'`{name}`' for name in kept)} does not"
    facts = {"state": layer.part_name(growing[0]), "state_place": place}
    return finding(kind, said, [one.cite(said) for one in cited], **facts)


def _cut_off(layer: Layer) -> Iterator[Signal]:
    """A loss that never reaches the layer, and steps of length 1 that are cut from each other within a window."""
    trained = sorted(layer.trained)
    named = layer.cut or layer.place
    facts = {"state": named.name or layer.part_name(0), "state_place": named.place} if named else {}
    if len(trained) >= FEWEST and not layer.reached:
        where = f": `{named.name}` is detached at {named.place}" if layer.cut and named and named.name else ""
        said = f"in none of {len(trained)} steps does a loss reach `{_layer_name(layer)}`{where}"
        yield finding("probed-state-detached-too-early", said, [named.cite(said)] if named else [], **facts)
        return
    inner = [call for call in layer.calls if call.place_in_window and call.length == 1 and call.given]
    cut = [call for call in inner if all(part.carried and not part.reach.depth for part in call.parts)]
    if len(inner) >= FEWEST and len(cut) == len(inner):
        said = f"within a window, every step of `{_layer_name(layer)}` starts from a detached state: no gradient goes back in time"
        yield finding("probed-state-detached-too-early", said, [named.cite(said)] if named else [], **facts)


def _emptied(layer: Layer) -> Iterator[Signal]:
    """One step of length 1 in each window, and nothing remembered before it."""
    firsts = _first_calls(layer)
    alone = len(firsts) == len(layer.calls) and all(call.length == 1 for call in firsts)
    empty = [call for call in firsts if not call.given or all(part.zero for part in call.parts)]
    if alone and len(firsts) > FEWEST and len(empty) == len(firsts):
        named = layer.names.get(0) or layer.place
        name = f"`{layer.part_name(0)}`" if empty[0].given else "no state"
        said = f"{name} is empty at the start of each of {len(firsts)} steps of length 1: `{_layer_name(layer)}` remembers nothing"
        facts = {"state": layer.part_name(0), "state_place": named.place} if named else {}
        yield finding("probed-state-reset-every-step", said, [named.cite(said)] if named else [], **facts)


def _order(layer: Layer) -> Iterator[Signal]:
    """A state that goes on where the data does not."""
    calls = _first_calls(layer)
    going_on = [call for call in calls[1:] if call.given and all(part.carried for part in call.parts)]
    named = layer.names.get(0) or layer.place
    facts = {"state": layer.part_name(0), "state_place": named.place} if named else {}
    name = layer.part_name(0)
    shuffled = [call for call in going_on if call.shuffled and not call.restarted]
    if len(shuffled) >= FEWEST:
        said = f"`{name}` went from batch to batch {len(shuffled)} times, and the batches come in random order"
        yield finding("probed-state-with-shuffled-batches", said, [named.cite(said)] if named else [], **facts)
        return
    starts = [call for call in layer.calls if call.restarted]
    across = [call for call in starts if call in going_on]
    if starts and len(across) == len(starts):
        said = f"`{name}` went on from the end of the data into its start {len(across)} times: it is never reset"
        yield finding("probed-state-never-reset", said, [named.cite(said)] if named else [], **facts)


def _sound(layer: Layer) -> Iterator[Signal]:
    calls = _first_calls(layer)
    carried = [call for call in calls if call.given and all(part.carried for part in call.parts)]
    clean = all(not behind(call, part) for call in calls for part in range(len(call.parts)))
    named = layer.names.get(0) or layer.place
    if layer.builtin and len(carried) >= FEWEST and clean:
        starts = sum(call.restarted for call in layer.calls)
        said = f"`{layer.part_name(0)}` was carried through {len(calls)} steps without a graph, and reset at {starts} starts"
        yield finding("probed-state-sound", said, [named.cite(said)] if named else [])
