"""The step comes before backward, or gradients are cleared between backward and step.

## What it finds
A step that finds no gradients: since the last backward pass they were cleared, or in each iteration the step comes
before the backward pass it belongs to. Gradients of several batches that are meant to add up before a step, and are
cleared before each of them. A step behind the loop over the batches, each of which clears the gradients.

## Why it matters
The optimizer then applies nothing, or the gradients of the batch before.

## Silent
Any order in which every step is preceded by a backward pass without clearing in between; steps under a condition;
updates that use two optimizers on shared layers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import counts, is_zeroing, spelled, steps, surely_reaches, touches
from traindx.program.trace import Event, tensor_of
from traindx.program.values import Made, Tensor

ID = "wrong-step-order"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look back from every step to what happened to its gradients."""
    trace = analysis.trace
    for events in steps(trace).values():
        optimizer = events[0].subject
        if not isinstance(optimizer, Made) or optimizer.kind != "optimizer":
            continue
        for step in events:
            if step.facts.get("managed") or not step.turns:
                continue
            found = (
                _cleared(trace.events, step, optimizer)
                or _early(trace.events, step, optimizer)
                or _every_batch(trace.events, step, optimizer)
                or _after_the_loop(trace.events, step, optimizer)
            )
            if found is not None:
                yield found
                break


def _cleared(events: list[Event], step: Event, optimizer: Made) -> Finding | None:
    """Gradients were cleared after the last backward."""
    clearing: Event | None = None
    for event in reversed(events[: step.at]):
        if event.kind == "zero" and _first(event.guards, step) and is_zeroing(event, optimizer):
            clearing = clearing or event
        elif event.kind == "backward" and _may_reach(event, optimizer):
            if clearing is None or not surely_reaches(event, optimizer) or not _first(event.guards, step):
                return None
            if not _same_loop(event, step):
                return None
            place, facts = clearing.place, {"zero_place": clearing.place.text}
            if clearing.guards != step.guards:
                facts |= {"waits_for": spelled(step.guards[-1]), "cleared_at_once": event.place.text}
            return Finding(
                ID,
                place,
                "the gradients are cleared between `backward()` and `step()`: the optimizer applies nothing",
                facts={**facts, "step_place": step.place.text, "backward_place": event.place.text},
                also=((event.place, "computes the gradients"), (step.place, "finds none")),
            )
        elif event.kind == "step" and event.subject is optimizer:
            return None
    return None


def _early(events: list[Event], step: Event, optimizer: Made) -> Finding | None:
    """The first step of a loop comes before any backward, which follows in the same iteration."""
    if any(event.kind in {"backward", "foreign"} and _may_reach(event, optimizer) for event in events[: step.at]):
        return None
    later = next(
        (event for event in events[step.at :] if surely_reaches(event, optimizer) and event.path == step.path), None
    )
    if later is None or later.guards != step.guards:
        return None
    return Finding(
        ID,
        step.place,
        "`step()` runs before the `backward()` of the same iteration: each update uses the batch before, or nothing",
        facts={"step_place": step.place.text, "backward_place": later.place.text},
        also=((later.place, "computes the gradients afterwards"),),
    )


def _every_batch(events: list[Event], step: Event, optimizer: Made) -> Finding | None:
    """Gradients of some batches are to add up, and are cleared before the backward pass of each."""
    counted = next((guard for guard in step.guards if counts(guard)), None)
    if counted is None:
        return None
    mine = [event for event in events if event.path == step.path and counted not in event.guards]
    if any(event.kind == "step" and event.subject is optimizer for event in mine):
        return None
    backward = next((row for row in mine if row.at < step.at and surely_reaches(row, optimizer)), None)
    clearing = [row for row in mine if is_zeroing(row, optimizer) and _first(row.guards, step)]
    if backward is None or not clearing or clearing[0].at > backward.at or not _adds_up(backward, counted):
        return None
    place = clearing[0].place
    return Finding(
        ID,
        place,
        f"the gradients are cleared before every batch, and the step waits for `{spelled(counted)}`: it applies those"
        " of the last batch alone",
        facts={
            "zero_place": place.text,
            "waits_for": spelled(counted),
            "step_place": step.place.text,
            "backward_place": backward.place.text,
        },
        also=((step.place, "steps once for several batches"), (backward.place, "is to add to the gradients")),
    )


def _after_the_loop(events: list[Event], step: Event, optimizer: Made) -> Finding | None:
    """Every batch of a loop clears the gradients and computes its own, and the step comes when the loop has ended."""
    depth = len(step.path)
    before = [event for event in events[: step.at] if event.path[:depth] == step.path]
    if step.guards or any(event.kind == "step" and event.subject is optimizer for event in before):
        return None
    inner = [event for event in before if len(event.path) == depth + 1]
    backwards = [event for event in before if event.kind == "backward" and _may_reach(event, optimizer)]
    mine = [event for event in inner if not event.guards and surely_reaches(event, optimizer)]
    loops = {id(event.turns[-1].loop) for event in mine}
    if len(mine) != len(backwards) or len({event.path for event in mine}) < 2 or len(loops) != 1:
        return None
    clearing = [event for event in inner if not event.guards and is_zeroing(event, optimizer)]
    if not {event.path for event in mine} <= {event.path for event in clearing}:
        return None
    loop = mine[0].turns[-1].loop.place
    return Finding(
        ID,
        step.place,
        f"each iteration of the loop at {loop.text} clears the gradients, and the step comes after it: only the last"
        " batch trains",
        facts={"step_place": step.place.text, "backward_place": mine[0].place.text, "loop_place": loop.text},
        also=((clearing[0].place, "clears them for every batch"), (mine[0].place, "computes them for every batch")),
    )


def _first(guards: tuple[ast.expr, ...], step: Event) -> bool:
    """Whether something happens whenever the step does."""
    return guards == step.guards[: len(guards)]


def _adds_up(backward: Event, counted: ast.expr) -> bool:
    """Whether the program means its batches to add up: the loss is divided, or the count is called accumulation."""
    value = tensor_of(backward)
    return bool(value is not None and value.divided) or "accum" in spelled(counted).lower()


def _same_loop(one: Event, other: Event) -> bool:
    """Whether two events happen in one run of the same outermost loop; a loop that has ended is another training."""
    return bool(one.turns and other.turns) and one.turns[0].loop is other.turns[0].loop


def _may_reach(event: Event, optimizer: Made) -> bool:
    value = event.facts.get("value")
    return not isinstance(value, Tensor) or touches(value, optimizer) or not value.deps
