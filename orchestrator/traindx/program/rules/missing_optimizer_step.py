"""Gradients are computed, weights are never updated.

## What it finds
An optimizer over layers that a backward pass reaches in a loop, and no step of it anywhere; a step that waits for more
batches than an epoch has; new weights of a functional step that the loop does not keep.

## Why it matters
Nothing changes the weights: the loss is noise around its first value.

## Silent
Steps of any optimizer that cannot be told apart from it, optimizers handed to a framework or to unknown code, gradients
that are applied by hand, optimizers that are made and never used.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.functional import lost_updates
from traindx.program.queries import handed_out, named_only, named_place, surely_reaches, touches
from traindx.program.trace import Event, Trace
from traindx.program.values import Made, Place, Plain
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of

ID = "missing-optimizer-step"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at every optimizer that is made."""
    trace = analysis.trace
    thrown = list(_thrown_away(analysis))
    yield from thrown or _never_carried(analysis)
    stepped = [event.subject for event in trace.of("step")]
    if trace.of("overwritten") or not analysis.whole:
        return
    for optimizer in trace.optimizers:
        reached = [event for event in trace.of("backward") if surely_reaches(event, optimizer) and event.turns]
        if not reached or any(isinstance(made, Made) and touches(made, optimizer) for made in stepped):
            continue
        if optimizer.place is None or not optimizer.known or reached[0].facts.get("managed"):
            continue
        # An optimizer that nothing ever touches may simply be left over.
        if not any(event.subject is optimizer for event in trace.of("zero")) and not _scheduled(analysis, optimizer):
            continue
        if (never := _never(trace)) is not None:
            every = never.subject.value if isinstance(never.subject, Plain) else "?"
            yield Finding(
                ID,
                never.place,
                f"the step waits for {every} batches, and an epoch has only {never.facts['batches']}: it never comes",
                facts={"waits_place": never.place.text, "waits_for": str(every), "batches": never.facts["batches"]},
                also=((reached[0].place, "computes gradients that nothing applies"),),
            )
            return
        named = named_only(analysis, "step", frozenset(_schedulers(analysis)))
        yield Finding(
            ID,
            reached[0].place,
            "gradients are computed in every iteration, and no optimizer ever applies them",
            proven=not handed_out(trace, optimizer),
            facts={
                "backward_place": reached[0].place.text,
                "optimizer_place": optimizer.place.text,
                **named_place(named),
            },
            also=(*named, (optimizer.place, "this optimizer never steps")),
        )


def _thrown_away(analysis: Analysis) -> Iterator[Finding]:
    """`optax.apply_updates(params, updates)` gives new parameters, and as a statement of its own changes nothing; as
    does a training step whose new state the loop does not keep: `_, metrics = step(state, batch)`.
    """
    for row in lost_updates(analysis.units):
        yield Finding(
            ID,
            row.call,
            f"`{row.step}` returns the new weights, and they are thrown away: the next iteration begins with the same"
            f" `{row.given}`",
            facts={"lost_place": row.call.text, "lost_step": row.step, "lost_state": row.given},
        )
    for unit in analysis.units:
        if "apply_updates" not in unit.names:
            continue
        for node in unit.nodes.of(ast.Expr):
            call = node.value
            if isinstance(call, ast.Call) and _is_optax(call.func, unit):
                place = Place(unit, node)
                yield Finding(
                    ID,
                    place,
                    "`apply_updates` returns the new parameters, and they are thrown away: the old ones stay",
                    facts={"thrown_place": place.text},
                )


def _is_optax(function: ast.expr, unit: CodeUnit) -> bool:
    """`optax.apply_updates`, or the name that was imported from there."""
    if isinstance(function, ast.Attribute):
        return function.attr == "apply_updates" and getattr(function.value, "id", "") == "optax"
    return getattr(function, "id", "") == "apply_updates" and "from optax import" in unit.text


def _never_carried(analysis: Analysis) -> Iterator[Finding]:
    """A training state that is stepped from anew in every iteration: what `apply_gradients` returned is never used."""
    trace = analysis.trace
    rows = [event for event in trace.of("applied") if event.turns]
    states = {id(event.subject) for event in rows}
    if len(states) != 1 or len({event.turns[-1].number for event in rows}) < 2:
        return
    first = rows[0]
    caller = first.calls[0] if first.calls else first.place
    yield Finding(
        ID,
        caller,
        "every iteration begins with the same state: the one that `apply_gradients` returns is not kept",
        facts={"thrown_place": caller.text},
        also=((first.place, "gives a new state, and leaves the old one as it was"),),
    )


def _schedulers(analysis: Analysis) -> Iterator[str]:
    """The names of what is made of a class of schedulers: they step as well."""
    for unit in analysis.units:
        for node in unit.nodes.of(ast.Assign):
            if isinstance(node.value, ast.Call):
                made = name_of(node.value.func)
                if made.endswith("LR") or "chedule" in made or "Plateau" in made or "GradScaler" in made:
                    yield from map(ast.unparse, node.targets)


def _never(trace: Trace) -> Event | None:
    """A condition around a step that no batch of an epoch meets."""
    for event in trace.of("never"):
        for node in event.place.unit.nodes.of(ast.If):
            if node.test is event.place.node:
                called = {getattr(part.func, "attr", "") for part in ast.walk(node) if isinstance(part, ast.Call)}
                if "step" in called:
                    return event
    return None


def _scheduled(analysis: Analysis, optimizer: Made) -> bool:
    """Whether a scheduler was made for an optimizer."""
    made = [event.subject for event in analysis.trace.of("scheduler")]
    return any(isinstance(one, Made) and one.argument(0, "optimizer") is optimizer for one in made)
