"""Gradients of earlier batches are never cleared.

## What it finds
Two steps of one optimizer in consecutive iterations, a backward pass before each, and nothing in between that clears
the gradients of its parameters.

## Why it matters
`backward()` adds to `.grad`. Without `zero_grad()` every step uses the sum of all gradients so far: the effective step
grows with the step number, and the loss oscillates or diverges.

## Silent
Clearing under a condition (accumulation), through the model, with `p.grad = None`, in a closure, or by a framework;
optimizers that were handed to code outside the program.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import handed_out, is_zeroing, named_only, named_place, steps, surely_reaches
from traindx.program.trace import Event, Trace
from traindx.program.values import Made, Tensor

ID = "missing-zero-grad"
SAYS = ("proven", "suspected")


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at each pair of consecutive steps."""
    trace = analysis.trace
    yield from _by_hand(trace)
    for events in steps(trace).values():
        optimizer = events[0].subject
        if not isinstance(optimizer, Made) or optimizer.kind != "optimizer" or events[0].facts.get("managed"):
            continue
        for one, two in pairwise(events):
            between = trace.events[one.at + 1 : two.at]
            if (
                one.path == two.path
                or one.place.node is not two.place.node
                or not any(surely_reaches(event, optimizer) for event in between)
            ):
                continue
            if any(is_zeroing(event, optimizer) for event in between):
                continue
            back = next(event for event in reversed(between) if surely_reaches(event, optimizer))
            earlier = [event for event in trace.of("zero") if is_zeroing(event, optimizer)]
            said = "only outside this loop" if earlier else "nowhere"
            name = _name(two.place.node)
            others = frozenset(_name(event.place.node) for event in trace.of("step")) - {name}
            named = named_only(analysis, "zero_grad", others)
            yield Finding(
                ID,
                two.place,
                f"`{name}.step()` runs in every iteration, and its gradients are cleared {said}: they add up",
                proven=not handed_out(trace, optimizer, one.at, two.at),
                facts={
                    "optimizer": name,
                    "step_place": two.place.text,
                    "backward_place": back.place.text,
                    **named_place(named),
                },
                also=(
                    *named,
                    (back.place, "adds to the gradients of every earlier iteration"),
                    *((event.place, "clears the gradients of something else") for event in _others(between)),
                    *((event.place, "clears them outside the loop") for event in earlier[:1]),
                ),
            )
            break


def _others(between: list[Event]) -> list[Event]:
    return [event for event in between if event.kind == "zero"][:1]


def _by_hand(trace: Trace) -> Iterator[Finding]:
    """Parameters that are updated as `w -= rate * w.grad`, with gradients that nothing clears."""
    updates = [
        event
        for event in trace.of("in-place")
        if not event.grad and isinstance(given := event.facts.get("value"), Tensor) and "gradient" in given.marks
    ]
    for one, two in pairwise([event for event in updates if event.place.node is updates[0].place.node]):
        between = trace.events[one.at + 1 : two.at]
        back = next((event for event in between if event.kind == "backward"), None)
        if back is None or one.path == two.path or any(event.kind in {"zero", "foreign"} for event in between):
            continue
        yield Finding(
            ID,
            two.place,
            "the weights are updated by hand, and their gradients are never cleared: they add up",
            facts={"step_place": two.place.text, "backward_place": back.place.text},
            also=((back.place, "adds to the gradients of every earlier iteration"),),
        )
        return


def _name(node: object) -> str:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.args and node.func.attr == "step" and "scaler" in ast.unparse(node.func.value).lower():
            return ast.unparse(node.args[0])
        return ast.unparse(node.func.value)
    return "optimizer"
