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
from traindx.program.queries import handed_out, is_zeroing, steps, surely_reaches
from traindx.program.values import Made

ID = "missing-zero-grad"
SAYS = ("proven", "suspected")


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at each pair of consecutive steps."""
    trace = analysis.trace
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
            yield Finding(
                ID,
                two.place,
                f"`{name}.step()` runs in every iteration, and its gradients are cleared {said}: they add up",
                proven=not handed_out(trace, optimizer, one.at, two.at),
                facts={"optimizer": name, "step_place": two.place.text, "backward_place": back.place.text},
                also=((back.place, "adds to the gradients of every earlier iteration"),),
            )
            break


def _name(node: object) -> str:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.args and node.func.attr == "step" and "scaler" in ast.unparse(node.func.value).lower():
            return ast.unparse(node.args[0])
        return ast.unparse(node.func.value)
    return "optimizer"
