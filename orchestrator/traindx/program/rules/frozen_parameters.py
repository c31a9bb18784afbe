"""Parameters that should train are frozen.

## What it finds
An optimizer all of whose layers are frozen; a new head that is frozen together with the backbone it replaced a part of;
frozen parameters that are to train again, where `requires_grad = True` is set on the module instead.

## Why it matters
The loss stays where it is, or only a part of the model that was not meant to train does.

## Silent
Frozen backbones under a head that trains, layers that are unfrozen later, freezing under a condition.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.library.layers import frozen
from traindx.program.queries import is_true, module_layers, steps
from traindx.program.trace import tensor_of
from traindx.program.values import Made, Parameters

ID = "frozen-parameters"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at every optimizer that steps."""
    trace = analysis.trace
    yield from _thawed_in_name(analysis)
    for events in steps(trace).values():
        made = events[0].subject
        if not isinstance(made, Made) or not made.layers:
            continue
        layers = [trace.layers[number] for number in made.layers if number in trace.layers]
        still = [layer for layer in layers if frozen(layer)]
        if not still or len(still) < len(layers):
            continue
        freezing = next(
            (
                event
                for event in trace.of("freeze")
                if event.facts["on"] and isinstance(event.subject, Parameters) and event.subject.layers & made.layers
            ),
            None,
        )
        if freezing is None or any((tensor_of(event) or _EMPTY).deps & made.layers for event in trace.of("backward")):
            continue
        yield Finding(
            ID,
            freezing.place,
            "every parameter that the optimizer holds is frozen here",
            facts={"freeze_place": freezing.place.text, "step_place": events[0].place.text},
            also=((made.place, "the optimizer that has nothing to train"),) if made.place is not None else (),
        )


def _thawed_in_name(analysis: Analysis) -> Iterator[Finding]:
    """`module.requires_grad = True` after its parameters were frozen: the attribute means nothing to a module."""
    trace = analysis.trace
    for event in trace.of("useless-freeze"):
        inner = module_layers(analysis, event.subject)
        if not is_true(event.facts.get("value")) or not inner:
            continue
        freezing = next(
            (
                row
                for row in trace.events[: event.at]
                if row.kind == "freeze" and row.facts["on"] and isinstance(row.subject, Parameters)
                if row.subject.layers & inner
            ),
            None,
        )
        still = any(frozen(trace.layers[number]) for number in inner if number in trace.layers)
        if freezing is None or not still:
            continue
        yield Finding(
            ID,
            event.place,
            "`requires_grad` is set on a module, where it means nothing: its parameters stay frozen",
            facts={"freeze_place": freezing.place.text, "step_place": event.place.text},
            also=((freezing.place, "freezes the parameters"),),
        )


_EMPTY = type("_Empty", (), {"deps": frozenset()})()
