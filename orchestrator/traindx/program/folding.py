"""Cross-validation whose folds share one model: what it learned on one fold is there when another is tested."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.queries import handed_out, mentions
from traindx.program.trace import Event, Loop
from traindx.program.values import Layer, Made, Place, Stream, Value

_RESTORED = frozenset({"load-state-dict", "initialised", "overwritten"})


def kept_models(analysis: Analysis) -> Iterator[tuple[Place, Place]]:
    """Loops over folds that go on training a model made before them: where it is trained, and where it was made."""
    for loop in analysis.trace.loops:
        if _of_folds(loop.source):
            yield from _trained_on(analysis, loop)
            yield from _fitted_on(analysis, loop)


def _trained_on(analysis: Analysis, loop: Loop) -> Iterator[tuple[Place, Place]]:
    trace = analysis.trace
    inside = [event for event in trace.events if _within(event, loop)]
    first = inside[0].at if inside else 0
    made = {row.subject.number: row for row in trace.of("layer") if isinstance(row.subject, Layer) and row.at < first}
    tested = any(event.kind == "forward" and not event.grad for event in inside)
    if not tested or any(event.kind in _RESTORED for event in inside):
        return
    for step in inside:
        optimizer = step.subject
        if step.kind != "step" or not isinstance(optimizer, Made) or not optimizer.known or not optimizer.layers:
            continue
        if optimizer.layers <= made.keys() and not handed_out(trace, optimizer, first):
            yield step.place, made[min(optimizer.layers)].place
        return


def _fitted_on(analysis: Analysis, loop: Loop) -> Iterator[tuple[Place, Place]]:
    """The same in Keras, where `fit` goes on from the weights of the time before."""
    if mentions(analysis, "set_weights", "load_weights", "clone_model", "from_config"):
        return
    for event in analysis.trace.of("fit-model"):
        made = event.subject.place if isinstance(event.subject, Layer) else None
        if made is not None and _within(event, loop) and not _written_in(made, loop):
            yield event.place, made
            return


def _within(event: Event, loop: Loop) -> bool:
    return any(turn.loop is loop for turn in event.turns)


def _written_in(place: Place, loop: Loop) -> bool:
    """Whether something stands in the body of a loop, or in a function: a function may be called in it."""
    node = loop.node
    if place.unit is not loop.place.unit:
        return True
    functions = place.unit.nodes.of(ast.FunctionDef)
    return any(
        part.lineno <= place.line <= (getattr(part, "end_lineno", None) or part.lineno)
        for part in [node, *functions]
        if hasattr(part, "lineno") and not (isinstance(part, ast.FunctionDef) and _holds(part, loop))
    )


def _holds(function: ast.FunctionDef, loop: Loop) -> bool:
    return function.lineno <= loop.place.line <= (function.end_lineno or 0)


def _of_folds(source: Value) -> bool:
    inner = source.source if isinstance(source, Stream) else source
    if isinstance(inner, Stream):
        return _of_folds(inner)
    return isinstance(inner, Made) and inner.kind == "folds"
