"""State is carried across batches that are shuffled.

## What it finds
A recurrent state that goes from one batch to the next in a loop over a loader with `shuffle=True`, or over randomly
ordered indices.

## Why it matters
The next batch does not continue the last one: the state tells of other sequences, and adds noise.

## Silent
Loaders in order, states that are new in each batch, windows within one batch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import class_of, is_true
from traindx.program.states import carrying_loop, is_certain, outer_name
from traindx.program.values import Class, Function, Instance, Items, Layer, Made, Place, Stream, Tensor, Value

ID = "state-with-shuffled-batches"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at loops that hand a state on."""
    yield from _stateful(analysis)
    done: set[int] = set()
    for call in analysis.trace.of("recurrent"):
        loop = carrying_loop(analysis, call)
        if loop is None or not is_certain(call) or id(loop.node) in done or not call.grad:
            continue
        shuffled = shuffled_at(loop.source)
        if shuffled is None and not _is_random(loop.source):
            continue
        done.add(id(loop.node))
        name = outer_name(call)
        place = shuffled or loop.place
        yield Finding(
            ID,
            place,
            f"the batches come in random order, and `{name}` is carried from one to the next",
            facts={"state": name, "state_place": call.place.text, "loader_place": place.text},
            also=((call.place, "takes the state of another batch"),),
        )


def _stateful(analysis: Analysis) -> Iterator[Finding]:
    """A Keras model with `stateful=True` whose `fit` shuffles arrays, as it does by default."""
    for event in analysis.trace.of("fit-model"):
        held = event.subject.fields.get("@layers") if isinstance(event.subject, Layer) else None
        inner = held.items if isinstance(held, Items) else []
        layer = next((one for one in inner if isinstance(one, Layer) and is_true(one.keywords.get("stateful"))), None)
        call = event.facts["call"]
        told = call.keywords.get("shuffle")
        # Generators and data sets come in their own order, whatever `shuffle` says: they bring their targets along.
        if layer is None or layer.place is None or event.facts.get("y") is None:
            continue
        if told is not None and not is_true(told):
            continue
        node = next((part.value for part in event.place.node.keywords if part.arg == "shuffle"), event.place.node)  # type: ignore[attr-defined]
        place = Place(event.place.unit, node)
        yield Finding(
            ID,
            place,
            "`fit` shuffles the batches, and the stateful layer carries its state from one to the next",
            facts={"state": "the state of the layer", "state_place": layer.place.text, "loader_place": place.text},
            also=((layer.place, "keeps its state from batch to batch"),),
        )


def shuffled_at(source: Value) -> Place | None:
    """Where a loader is told to shuffle; None where it is not."""
    if isinstance(source, Stream):
        source = source.source
    if not isinstance(source, Made) or source.kind != "DataLoader":
        return None
    if is_true(source.argument(2, "shuffle")):
        return source.place
    given = source.keywords.get("batch_sampler", source.keywords.get("sampler"))
    if isinstance(given, Made) and class_of(given) == "RandomSampler":
        return source.place
    return _draws(given.cls) if isinstance(given, Instance) and given.cls is not None else None


def _draws(cls: Class) -> Place | None:
    """Where a sampler of the program puts its indices in a random order."""
    function = cls.find("__iter__")
    for node in ast.walk(function.node) if isinstance(function, Function) else ():
        called = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
        if called in {"randperm", "shuffle", "permutation", "sample"} and isinstance(function, Function):
            return Place(function.unit, node)
    return None


def _is_random(source: Value) -> bool:
    if isinstance(source, Stream):
        source = source.source
    return isinstance(source, Tensor) and "shuffled" in source.marks
