"""Dropout or batch normalization is active during evaluation.

## What it finds
A model that is being trained, called to evaluate (without gradients, after the step or in a loop or function for
validation) while layers inside it that depend on the mode are still in training mode.

## Why it matters
Dropout makes the metric noisy and too low; batch normalization uses the statistics of the evaluation batch and changes
its running ones. Two evaluations of the same weights differ.

## Silent
Models without such layers, teachers and targets that no optimizer holds, passes whose result goes into the loss,
Monte-Carlo dropout: layers that are put into training mode one by one, `training=True` written out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import (
    called,
    is_evaluation,
    is_true,
    loops_with,
    module_layers,
    named_only,
    named_place,
    trained_layers,
)
from traindx.program.trace import Event, Trace
from traindx.program.values import Layer, Place

ID = "missing-eval-mode"
_SAMPLED = re.compile(r"\bmc|monte|uncertain|sampl|update_bn|calibrat", re.IGNORECASE)


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at the mode in every pass that evaluates."""
    trace = analysis.trace
    trained = trained_layers(trace)
    learning = loops_with(trace, "backward")
    yield from _always_dropping(trace)
    for event in trace.of("forward"):
        active = [layer for layer in event.facts.get("active", []) if not _switched_on(trace, event, layer)]
        if not active or event.facts.get("passive") or not _evaluates(trace, event, learning):
            continue
        if _SAMPLED.search(event.function) or (event.guards and not event.turns):
            continue
        mine = module_layers(analysis, event.subject) & trained
        if trained and not mine:
            continue
        layer = active[0]
        named = named_only(analysis, "eval")
        also = [*named]
        also += [(place, "the evaluation starts here") for place in (event.off, *_loops(event)) if place is not None]
        also += [(layer.place, f"`{layer.kind}` behaves as in training")] if layer.place is not None else []
        yield Finding(
            ID,
            event.place,
            f"the model evaluates in training mode: {_counted(active)} active, and `eval()` was not called before",
            proven=bool(mine),
            facts={
                "forward_place": event.place.text,
                "mode_layer": layer.kind,
                "model": called(event),
                **named_place(named),
            },
            also=tuple(also),
        )


def _switched_on(trace: Trace, event: Event, layer: Layer) -> bool:
    """Whether this very layer was put into training mode, not the model around it: then it is meant to be active."""
    if layer is event.subject or layer.kind == "pretrained":
        return False
    told = [row for row in trace.of("mode") if row.subject is layer and row.at < event.at]
    return any(is_true(row.facts.get("on")) for row in told)


def _always_dropping(trace: Trace) -> Iterator[Finding]:
    """`F.dropout(x)` without `training=self.training` drops in evaluation too; so does a module made in each pass."""
    inside = {event.function for event in trace.of("always-drops") if event.grad}
    for event in trace.of("always-drops"):
        if not event.grad and event.function in inside and trace.of("backward"):
            made = str(event.facts.get("layer", ""))
            reason = (
                "each pass makes it anew, so no `eval()` reaches it"
                if made
                else ("it is not told `training=self.training`")
            )
            yield Finding(
                ID,
                event.place,
                f"this dropout is active in evaluation too: {reason}",
                facts={"forward_place": event.place.text, "mode_layer": made or "F.dropout"},
                also=((event.off, "evaluates without gradients"),) if event.off is not None else (),
            )


def _loops(event: Event) -> list[Place]:
    return [event.loop.place] if event.loop is not None else []


def _counted(active: list[object]) -> str:
    kinds = sorted({layer.kind for layer in active})  # type: ignore[attr-defined]
    return " and ".join(f"`{kind}`" for kind in kinds[:2]) + (" is" if len(kinds) == 1 else " are")


def _evaluates(trace: Trace, event: Event, learning: set[int]) -> bool:
    """Whether a pass serves a metric and not the loss of the iteration it is in."""
    if event.loop is None or id(event.loop.node) not in learning:
        # A loop of its own, or no loop: without gradients, or under a name that says what it is for.
        inside = any(id(turn.loop.node) in learning for turn in event.turns)
        return (not event.grad and (inside or bool(event.turns) or is_evaluation(event))) or (
            event.grad and is_evaluation(event) and not trace_learns(trace, event)
        )
    if event.grad:
        return False
    before = [other for other in trace.events[: event.at] if other.kind == "step" and other.path == event.path]
    after = [other for other in trace.events[event.at :] if other.kind == "backward" and other.path == event.path]
    return bool(before) and not after


def trace_learns(trace: Trace, event: Event) -> bool:
    """Whether a backward happens in the same function call."""
    return any(other.function == event.function for other in trace.of("backward"))
