"""Model code that is prone to dead or saturated units."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.citing import cite_line
from traindx.program.analysis import Analysis
from traindx.program.guessing import looks_like_building
from traindx.program.library import keras
from traindx.program.library.layers import children
from traindx.program.repetition import times
from traindx.program.trace import Event, Trace
from traindx.program.uncalled import events_beside
from traindx.program.values import Instance, Layer, Place, Tensor, number
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of

SIGNALS = {
    "deep-saturating-stack": "many layers with sigmoid or tanh, without skip connections or normalization",
    "relu-at-output": "the output of the network goes through a ReLU",
    "squashing-in-code": "sigmoid or tanh between layers of the model",
}

_SQUASHING = {"Sigmoid", "Tanh", "sigmoid", "tanh", "Softsign", "Hardtanh"}
_NORMS = {"LayerNorm", "BatchNorm1d", "BatchNorm2d", "GroupNorm", "InstanceNorm2d", "RMSNorm", "BatchNorm3d"}
_GATED = {"LSTM", "GRU", "TransformerEncoderLayer"}
_KINDS = ("layer", "module", "activation", "residual", "output")
DEEP = 6


def at_the_output(analyses: Sequence[Analysis]) -> list[Signal]:
    """A network that ends in a ReLU: below zero it has no gradient, and the whole net with it."""
    for analysis in analyses:
        found = chain(_rectified(analysis.trace), _rectified_heads(analysis.trace), _rectified_models(analysis.trace))
        place = next(found, None)
        if place is not None:
            cited = _cited(place)
            return [
                Signal(id="relu-at-output", claim=f"the output goes through a ReLU: `{cited.quote}`", citations=[cited])
            ]
    return []


def _rectified(trace: Trace) -> Iterator[Place]:
    """Where outputs are rectified that a loss compares, and of which no other layer makes anything further."""
    compared = [part for event in trace.of("loss") for part in event.facts.values() if isinstance(part, Tensor)]
    for event in trace.of("output"):
        made = event.facts["value"]
        if isinstance(made, Tensor) and made.act == "relu" and made.act_at is not None:
            reached = [part for part in compared if made.deps <= part.deps]
            if (reached or not compared) and all(part.act == "relu" for part in reached):
                yield made.act_at


def _rectified_heads(trace: Trace) -> Iterator[Place]:
    """Where a stack ends in a layer of one unit and a ReLU."""
    for event in trace.of("layer"):
        stack = event.subject
        rows = children(stack) if isinstance(stack, Layer) and stack.kind == "Sequential" else []
        if len(rows) > 2 and all(isinstance(row, Layer) for row in rows[-2:]):
            before, last = rows[-2:]
            if isinstance(before, Layer) and isinstance(last, Layer) and _is_one_unit(before) and last.kind == "ReLU":
                yield last.place or event.place


def _rectified_models(trace: Trace) -> Iterator[Place]:
    """Where a Keras model that is to come near to numbers ends in a ReLU."""
    for event in trace.of("compile"):
        name, _ = keras.loss_name(event.facts.get("loss"))
        if name in keras.DISTANCES and isinstance(event.subject, Layer):
            act, _, last = keras.last_layer(event.subject)
            place = last.act_at if isinstance(last, Tensor) else last.place if last is not None else None
            if act == "relu" and place is not None:
                yield place


def _is_one_unit(layer: Layer) -> bool:
    out = layer.keywords.get("out_features", layer.args[1] if len(layer.args) > 1 else None)
    return layer.kind == "Linear" and number(out) == 1


def squashing(code: Sequence[CodeUnit], analyses: Sequence[Analysis]) -> list[Signal]:
    """Sigmoid or tanh between the layers, and whether there are many of them with no way around."""
    wanted = {unit.path: at for at, unit in enumerate(code)}
    found = [analysis.trace.of(*_KINDS) for analysis in analyses]
    found.append(events_beside(analyses, _squashes, *_KINDS))
    uses = [use for events in found for use in _uses(events) if use.unit.path in wanted and "model" in use.unit.traits]
    first = min(uses, key=lambda use: (wanted[use.unit.path], use.line), default=None)
    signals = []
    if first is not None:
        place = _cited(first)
        signals.append(Signal(id="squashing-in-code", claim=f"`{place.quote}`", citations=[place]))
    return [*signals, *next((told for events in found if (told := _stacked(events))), [])]


def _squashes(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and name_of(node.func) in _SQUASHING


def _uses(events: Sequence[Event]) -> Iterator[Place]:
    """Where a model squashes: the layers that do, and the calls."""
    for event in events:
        if (event.kind == "layer" and _is_squashing(event)) or (event.kind == "activation" and _is_call(event)):
            yield event.place


def _is_squashing(event: Event) -> bool:
    return isinstance(event.subject, Layer) and event.subject.kind in _SQUASHING


def _is_call(event: Event) -> bool:
    """Whether a model calls the function, and no layer that was counted where it was made."""
    return "layer" not in event.facts and (bool(event.facts["inside"]) or looks_like_building(event.function))


def _stacked(events: Sequence[Event]) -> list[Signal]:
    """A stack of sigmoid or tanh layers as the program builds it, with every repetition counted."""
    kinds = {event.subject.kind for event in events if isinstance(event.subject, Layer) and event.kind == "layer"}
    if kinds & (_NORMS | _GATED) or any(event.kind == "residual" for event in events):
        return []
    built = [(times(event), event) for event in events if event.kind == "layer" and _is_squashing(event)]
    groups = [built, *_applied(events)]
    most = max(groups, key=lambda rows: sum(count for count, _ in rows))
    layers = sum(count for count, _ in most)
    if layers < DEEP:
        return []
    event = max(most, key=lambda row: row[0])[1]
    layer = event.facts.get("layer", event.subject)
    if isinstance(layer, Layer) and layer.place is not None:
        return [_deep(layers, layer.kind.lower(), _cited(layer.place))]
    return [_deep(layers, str(event.facts["act"]), _cited(event.place))]


def _applied(events: Sequence[Event]) -> list[list[tuple[int, Event]]]:
    """The activations of each time that a network is gone through, with their numbers."""
    made = {event.subject.number: times(event) for event in events if event.kind in {"layer", "module"}
            and isinstance(event.subject, Layer | Instance)}  # fmt: skip
    found: dict[tuple[int, str], list[tuple[int, Event]]] = defaultdict(list)
    waiting: list[Event] = []
    for event in events:
        if event.kind == "activation" and (event.facts["inside"] or looks_like_building(event.function)):
            waiting.append(event)
        elif event.kind == "output":
            found[event.at, ""] = [(_times(row, len(event.turns), made), row) for row in waiting]
            waiting = []
    for row in waiting:
        found[0, row.function].append((_times(row, 0, made), row))
    return list(found.values())


def _times(event: Event, outer: int, made: dict[int, int]) -> int:
    layer = event.facts.get("layer")
    built = made.get(layer.number, 1) if isinstance(layer, Layer) else 1
    return built if built != 1 else times(event, outer, made)


def _deep(layers: int, name: str, place: Citation) -> Signal:
    claim = f"{layers} layers with {name} and no skip connection or normalization: `{place.quote}`"
    facts: dict[str, Fact] = {
        "stack_layers": layers,
        "stack_activation": name,
        "stack_place": f"{place.source}:{place.locator.removeprefix('line ')}",
    }
    # Ten sigmoids leave at most a millionth of the gradient; tanh is four times kinder per layer.
    strength = min(1.0, layers / (10 if "igmoid" in name else 20))
    return Signal(id="deep-saturating-stack", claim=claim, strength=strength, citations=[place], facts=facts)


def _cited(place: Place) -> Citation:
    return cite_line(place.unit.path, place.unit.file_line(place.line), "the activation", place.quote)
