"""Evaluation mode is never left before the next epoch.

## What it finds
`eval()` inside the loop over epochs, and a training pass of the next epoch that finds dropout or batch normalization
still in evaluation mode.

## Why it matters
From the second epoch on dropout is off and batch normalization is frozen: the model overfits, or its statistics stay
those of the first epoch.

## Silent
Layers that are kept in evaluation mode on purpose while others train, and modes that depend on a condition.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import called, is_true, module_layers, named_only, named_place, trained_layers
from traindx.program.trace import Event
from traindx.program.values import Plain

ID = "missing-train-mode"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at the mode in every pass that trains."""
    trace = analysis.trace
    learning: dict[tuple[int, ...], list[int]] = {}
    for event in trace.of("backward"):
        learning.setdefault(event.path, []).append(event.at)
    trained = trained_layers(trace)
    started: set[int] = set()
    for event in trace.of("forward"):
        if not event.grad or not any(at > event.at for at in learning.get(event.path, ())):
            continue
        passive = event.facts.get("passive") or event.facts.get("undecided") or []
        number = getattr(event.subject, "number", 0)
        if event.facts.get("active"):
            started.add(number)
            continue
        if not passive or (trained and not module_layers(analysis, event.subject) & trained):
            continue
        left = _left(trace.events[: event.at])
        if left is None:
            continue
        inside = number not in started and _begun_and_left(trace.events[: event.at], left, event)
        begun = number in started or inside
        named = named_only(analysis, "train")
        yield Finding(
            ID,
            left.place,
            f"`eval()` is called here, and the training pass at {event.place.text} runs without `train()` after it",
            proven=begun and bool(left.turns),
            facts={
                "eval_place": left.place.text,
                "forward_place": event.place.text,
                "mode_layer": passive[0].kind,
                "model": called(event),
                **({"within": event.place.text} if inside else {}),
                **named_place(named),
            },
            also=(
                *named,
                (event.place, f"trains with `{passive[0].kind}` in evaluation mode"),
                *((row.place, "`train()` is called only here") for row in _entered(trace.events[: left.at])),
            ),
        )


def _entered(before: list[Event]) -> list[Event]:
    """The last time that training mode was entered."""
    entered = [event for event in before if event.kind == "mode" and is_true(event.facts.get("on"))]
    return entered[-1:]


def _begun_and_left(before: list[Event], left: Event, event: Event) -> bool:
    """Whether training mode was entered before, and an evaluation every so many batches, in the loop over batches
    itself, leaves it: what follows in the same iteration trains in evaluation mode.
    """
    entered = _entered(before[: left.at])
    inside = left.path[: len(event.path)] == event.path and bool(left.guards)
    evaluates = any(row.kind == "forward" and not row.grad for row in before[left.at :])
    return bool(entered) and len(entered[0].path) < len(left.path) and inside and evaluates


def _left(before: list[Event]) -> Event | None:
    for event in reversed(before):
        on = event.facts.get("on") if event.kind == "mode" else None
        if isinstance(on, Plain):
            return event if on.value is False else None
    return None
