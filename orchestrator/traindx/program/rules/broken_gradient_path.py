"""Something cuts the loss off from the weights.

## What it finds
A backward pass on a value that was rebuilt from numbers (`.item()`, `.numpy()`, `torch.tensor(…)`, `argmax`, `.data`,
`no_grad`) and made to ask for a gradient again, or has none; and layers of an optimizer that no loss ever reaches
because their output is cut on the way.

## Why it matters
The weights behind the cut get no gradient: the loss stays where it is, or that part of the model never learns.

## Silent
Cuts outside the path of the loss: metrics, logging, targets, teachers, states between windows.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from traindx.program.adversaries import fed_detached
from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import steps
from traindx.program.reach import unreached
from traindx.program.trace import Trace, tensor_of
from traindx.program.values import Cut, Made, Place, Tensor
from traindx.readers.code.syntax import name_of

ID = "broken-gradient-path"
_ASKED = re.compile(r"loss|dice|iou|jaccard|tversky|f1|focal|penalt", re.IGNORECASE)
"""names of functions whose result is meant to teach something: a threshold in one of them cuts it off"""
_MEANT = {"`.detach()`", "a comparison"}
"""cuts that people make on purpose where they add something to a loss"""


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at what every backward starts from."""
    yield from _never_reached(analysis)
    yield from _lost_terms(analysis)
    yield from _wrapped_again(analysis)
    yield from fed_detached(analysis)
    trace = analysis.trace
    yield from _differentiated(trace)
    trains = [events[0].subject for events in steps(trace).values()]
    for event in trace.of("backward"):
        value = tensor_of(event)
        if value is None or not value.sure or value.deps:
            continue
        known = [made for made in trains if isinstance(made, Made) and made.known and made.layers]
        given = [value, *_predicted(value)]
        if not known or (value.graph and not any(part.marks & {"leaf", "cut-leaf"} for part in given)):
            continue
        cut = next((part.cut for part in given if part.cut is not None), None)
        if cut is None:
            continue
        again = [part.made for part in given if part.made is not None and "cut-leaf" in part.marks]
        yield Finding(
            ID,
            cut.place,
            f"{cut.by} cuts the loss off from the weights: the backward at {event.place.text} reaches no parameter",
            facts={"cut_place": cut.place.text, "cut_by": cut.by, "backward_place": event.place.text},
            also=(
                *((place, "asks for a gradient again: a new leaf, with nothing behind it") for place in again[:1]),
                (event.place, "starts from a value without a path to the weights"),
            ),
        )


def _differentiated(trace: Trace) -> Iterator[Finding]:
    """JAX: the gradient of a value that was cut off from the parameters on its way."""
    for event in trace.of("jax-gradient"):
        value = tensor_of(event)
        if value is None or not value.sure or value.graph or value.cut is None:
            continue
        yield Finding(
            ID,
            value.cut.place,
            f"{value.cut.by} cuts the loss off from the parameters: the gradient at {event.place.text} is zero",
            facts={"cut_place": value.cut.place.text, "cut_by": value.cut.by, "backward_place": event.place.text},
            also=((event.place, "takes the gradient of it"),),
        )
        return


def _never_reached(analysis: Analysis) -> Iterator[Finding]:
    """Layers that an optimizer trains and no loss ever reaches, because what they give is cut on its way."""
    for row in unreached(analysis):
        if row.recurrent:
            continue  # a state that is detached too early
        what = "what this optimizer trains" if row.whole else "a part of the model"
        yield Finding(
            ID,
            row.cut.place,
            f"{row.cut.facts['by']} cuts {what} off from every loss: the step at {row.step.place.text} has no gradient"
            " for it",
            facts={
                "cut_place": row.cut.place.text,
                "cut_by": str(row.cut.facts["by"]),
                "backward_place": row.step.place.text,
            },
            also=((row.step.place, "steps without a gradient for it"),),
        )


def _wrapped_again(analysis: Analysis) -> Iterator[Finding]:
    """A computed value that is made a parameter in every step: a new leaf, which nothing leads back from."""
    trace = analysis.trace
    done: set[int] = set()
    for event in trace.of("cut"):
        if not event.facts.get("rewrapped") or id(event.place.node) in done:
            continue
        later = next((row for row in trace.events[event.at :] if row.kind == "backward"), None)
        if later is None:
            continue
        done.add(id(event.place.node))
        yield Finding(
            ID,
            event.place,
            f"`nn.Parameter` around a computed value makes a new leaf: the backward at {later.place.text} ends there",
            facts={
                "cut_place": event.place.text,
                "cut_by": "`nn.Parameter`",
                "backward_place": later.place.text,
            },
            also=((later.place, "reaches nothing behind the new leaf"),),
        )


def _lost_terms(analysis: Analysis) -> Iterator[Finding]:
    """A term of the loss that has no graph: it changes the number that is printed, and no weight."""
    trace = analysis.trace
    done: set[int] = set()
    for event in trace.of("backward"):
        value = tensor_of(event)
        if value is None or "lost" not in value.marks or not value.sure:
            continue
        for row in trace.events[: event.at]:
            cut = row.facts.get("cut")
            if row.kind != "lost-term" or not isinstance(cut, Cut) or id(cut.place.node) in done:
                continue
            if cut.by in _MEANT and not _asked(cut, row.place):
                continue
            done.add(id(cut.place.node))
            yield Finding(
                ID,
                cut.place,
                f"{cut.by} leaves a term of the loss without a graph: added at {row.place.text}, it trains nothing",
                facts={"cut_place": cut.place.text, "cut_by": cut.by, "backward_place": event.place.text},
                also=((row.place, "adds a number that no weight depends on"),),
            )


def _asked(cut: Cut, added: Place) -> bool:
    """Whether what was cut is meant to teach something all the same: a threshold in a function of a loss, and a loss
    that is computed from what was detached on its way in, `memory.loss(features.detach(), y)`.
    """
    if cut.by == "a comparison":
        return _ASKED.search(_function_around(cut.place)) is not None
    names = {name_of(part) for part in ast.walk(added.node)}
    for row in added.unit.nodes.of(ast.Assign) if cut.place.unit is added.unit else ():
        inner = [part for part in ast.walk(row.value) if isinstance(part, ast.Call) and part is not cut.place.node]
        fed = any(cut.place.node in {*part.args} for part in inner if _ASKED.search(name_of(part.func)))
        if fed and any(name_of(target) in names and _ASKED.search(name_of(target)) for target in row.targets):
            return True
    return False


def _function_around(place: Place) -> str:
    """The name of the innermost function that a place stands in."""
    inside = [
        node
        for node in place.unit.nodes.of(ast.FunctionDef)
        if node.lineno <= place.line <= (node.end_lineno or node.lineno)
    ]
    return max(inside, key=lambda node: node.lineno).name if inside else ""


def _predicted(value: Tensor) -> list[Tensor]:
    """The prediction that a loss was computed from."""
    inner = value.loss.prediction if value.loss is not None else None
    return [inner] if isinstance(inner, Tensor) else []
