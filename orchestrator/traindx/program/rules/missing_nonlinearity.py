"""Stacked linear layers without an activation between them.

## What it finds
A network in which every linear layer or convolution gets the output of another one straight away, with nothing but
shapes, dropout or normalization in between.

## Why it matters
A chain of linear maps is one linear map: depth and width add nothing, and the model can only learn what linear
regression can.

## Silent
Networks with at least one activation, recurrence or attention between layers; two layers that factor one on purpose.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.library import keras, keras_models
from traindx.program.trace import Event, Trace
from traindx.program.values import Layer, Place, Plain, Tensor, Value, whole

ID = "missing-nonlinearity"
_ACTIVATING = re.compile(r"act|relu|gelu|tanh|sigmoid|silu|softplus|elu")


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at what each pass through a model does between linear layers."""
    trace = analysis.trace
    yield from _keras(trace)
    passes = [event for event in trace.events if event.kind in {"forward", "softmax", "recurrent", "linear"}]
    done: set[int] = set()
    for event in trace.of("forward"):
        number = getattr(event.subject, "number", 0)
        if number in done or not event.grad or (not isinstance(event.subject, Layer) and not event.subject):
            continue
        done.add(number)
        inside = _until_next(passes, event)
        linear = [one for one in inside if one.kind == "linear"]
        chained = [one for one in linear[1:] if _straight(one)]
        if len(linear) < 2 or len(chained) < len(linear) - 1 or any(one.kind == "recurrent" for one in inside):
            continue
        if len(linear) == 2 and _factors(linear[0].subject, linear[1].subject):
            continue
        second = chained[0]
        place = second.subject.place if isinstance(second.subject, Layer) and second.subject.place else second.place
        first = second.facts["before"].act_at
        place = _never_reached(trace) or place
        yield Finding(
            ID,
            place,
            f"{len(linear)} linear layers follow each other with no activation between them: together they are one",
            facts={"layer_place": place.text, "linear_layers": len(linear)},
            also=((first, "the layer before it"),) if first is not None else (),
        )


def _keras(trace: Trace) -> Iterator[Finding]:
    """A Keras model that is fitted and has no activation before its last layer."""
    done: set[int] = set()
    for event in trace.of("fit-model"):
        layers = keras_models.chain(event.subject, trace)
        number = getattr(event.subject, "number", 0)
        if layers is None or number in done:
            continue
        done.add(number)
        maps = keras_models.linear_run(layers, {layer.number: keras.activation(layer) for layer in layers})
        places = [layer.place for layer in maps if layer.place is not None]
        if not maps or len(places) < len(maps):
            continue
        yield Finding(
            ID,
            places[0],
            f"{len(maps)} layers follow each other with no activation between them: together they are one linear map",
            facts={"layer_place": places[0].text, "linear_layers": len(maps)},
            also=((places[1], "the layer after it"),),
        )


def _factors(first: Value, second: Value) -> bool:
    """Whether two layers without biases factor one matrix: an embedding in and out, narrower than both sides."""
    if not isinstance(first, Layer) or not isinstance(second, Layer):
        return False
    if any(not _is_false(layer.keywords.get("bias")) for layer in (first, second)):
        return False
    sizes = [whole(part) for part in (*first.args[:2], *second.args[1:2])]
    wide, narrow, out = sizes if len(sizes) == 3 else (None, None, None)
    return wide is None or narrow is None or out is None or narrow < min(wide, out)


def _is_false(value: Value | None) -> bool:
    return isinstance(value, Plain) and value.value is False


def _never_reached(trace: Trace) -> Place | None:
    """The condition that can never hold and keeps the activation from being applied."""
    for event in trace.of("impossible"):
        around = next(
            (
                node
                for node in event.place.unit.nodes.of(ast.If)
                if any(part is event.place.node for part in ast.walk(node.test))
            ),
            None,
        )
        inside = [part for row in around.body for part in ast.walk(row)] if around is not None else []
        called = [ast.unparse(part.func).lower() for part in inside if isinstance(part, ast.Call)]
        if any(_ACTIVATING.search(name) for name in called):
            return event.place
    return None


def _until_next(passes: list[Event], event: Event) -> list[Event]:
    at = passes.index(event)
    found = []
    for one in passes[at + 1 :]:
        if one.kind == "forward":
            break
        found.append(one)
    return found


def _straight(event: Event) -> bool:
    before = event.facts["before"]
    if not isinstance(before, Tensor):
        return False
    return (before.act == "linear" and before.act_at is not None) or "affine" in before.marks
