"""The state is detached inside the window: no gradient flows through time.

## What it finds
A loop over time steps without a backward pass of its own, in which the state is detached before every step, so that the
backward pass after the loop never goes back by more than one; or a loss that is computed from a state after its detach.

## Why it matters
The recurrent weights never learn to keep anything: the model behaves like one without memory, at the same price.

## Silent
States that are detached between windows, each with its backward pass; rollouts without gradients.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.library.recurrent import CELL, KINDS
from traindx.program.queries import loops_with, state_parts, trained_layers
from traindx.program.reach import unreached
from traindx.program.states import carrying_loop, is_certain, outer_name
from traindx.program.trace import Event, Loop, Trace, tensor_of
from traindx.program.values import Layer, Tensor

ID = "state-detached-too-early"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at states that arrive without a graph where a backward is still to come."""
    trace = analysis.trace
    found = [*_in_windows(analysis, trace), *_before_the_loss(trace), *_all_but_a_few(analysis)]
    yield from found or _handed_over(analysis)


def _in_windows(analysis: Analysis, trace: Trace) -> Iterator[Finding]:
    learning = loops_with(trace, "backward", "step")
    done: set[int] = set()
    for call in trace.of("recurrent"):
        loop = carrying_loop(analysis, call)
        if loop is None or id(loop.node) in learning or not call.grad or id(call.place.node) in done:
            continue
        parts = state_parts(call)
        if not parts or any(part.graph for part in parts) or not is_certain(call):
            continue
        if not all("detached" in part.marks for part in parts):
            continue
        later = _backward_after(trace, call)
        if later is None:
            continue
        done.add(id(call.place.node))
        cut = next((part.cut for part in parts if part.cut), None)
        place = cut.place if cut is not None else call.place
        yield Finding(
            ID,
            place,
            f"the state is detached in every step of the loop at {loop.place.text}, and the backward pass at"
            f" {later.place.text} comes after the loop: no gradient flows through time",
            facts={"state": outer_name(call), "detach_place": place.text, "backward_place": later.place.text},
            also=((later.place, "cannot go back by more than one step"),),
        )


def _all_but_a_few(analysis: Analysis) -> Iterator[Finding]:
    """`if t % horizon: h = h.detach()`: the guard holds for every step but each n-th one."""
    trace = analysis.trace
    learning = loops_with(trace, "backward", "step")
    done: set[int] = set()
    for cut in trace.of("cut"):
        value = cut.subject
        if not isinstance(value, Tensor) or not value.states or not cut.turns or id(cut.place.node) in done:
            continue
        test = cut.guards[-1] if cut.guards else None
        if test is None or id(cut.turns[-1].loop.node) in learning:
            continue
        if not _is_remainder(test) and not _all_but_the_last(test, cut.turns[-1].loop):
            continue
        later = _backward_after(trace, cut)
        if later is None:
            continue
        done.add(id(cut.place.node))
        yield Finding(
            ID,
            cut.place,
            f"`{ast.unparse(test)}` holds for nearly every step: the state is detached in all but a few, and the"
            f" backward pass at {later.place.text} cannot go back through time",
            facts={"state": "the state", "detach_place": cut.place.text, "backward_place": later.place.text},
            also=((later.place, "cannot go back by more than a step or two"),),
        )


def _is_remainder(test: ast.expr) -> bool:
    """`t % n`, `t % n != 0`, `t % n > 0`: true where n does not divide t."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.NotEq | ast.Gt):
        zero = test.comparators[0]
        return isinstance(zero, ast.Constant) and zero.value == 0 and _is_remainder(test.left)
    return isinstance(test, ast.BinOp) and isinstance(test.op, ast.Mod)


def _all_but_the_last(test: ast.expr, loop: Loop) -> bool:
    """`t < steps - 1` or `t != steps - 1` in a loop over `range(steps)`."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Lt | ast.NotEq):
        return False
    node = loop.node
    call = node.iter if isinstance(node, ast.For) and isinstance(node.target, ast.Name) else None
    if not isinstance(call, ast.Call) or getattr(call.func, "id", "") != "range" or len(call.args) != 1:
        return False
    if ast.unparse(test.left) != ast.unparse(node.target) or len(test.ops) != 1:  # type: ignore[attr-defined]
        return False
    end, bound = call.args[0], test.comparators[0]
    if isinstance(end, ast.Constant) and isinstance(bound, ast.Constant):
        return isinstance(end.value, int) and bound.value == end.value - 1 and end.value > 2
    return ast.unparse(bound) == f"{ast.unparse(end)} - 1"


def _handed_over(analysis: Analysis) -> Iterator[Finding]:
    """A recurrent part whose state is cut where it is handed to the rest of the model: an encoder that never learns."""
    for row in unreached(analysis):
        if row.recurrent:
            place = row.cut.place
            yield Finding(
                ID,
                place,
                f"{row.cut.facts['by']} cuts the state off where it is handed on: the recurrent layer behind it gets no"
                " gradient at all",
                facts={"state": "the state", "detach_place": place.text, "backward_place": row.step.place.text},
                also=((row.step.place, "steps without a gradient for it"),),
            )


def _backward_after(trace: Trace, call: Event) -> Event | None:
    outer = call.path[:-1]
    for event in trace.events[call.at :]:
        if event.kind == "backward" and event.path == outer[: len(event.path)]:
            return event
    return None


def _before_the_loss(trace: Trace) -> Iterator[Finding]:
    trained = trained_layers(trace)
    for event in trace.of("backward"):
        value = tensor_of(event)
        if value is None or not value.sure or value.loss is None or not isinstance(value.loss.prediction, Tensor):
            continue
        if not value.deps:
            continue  # nothing at all is reached: that is a broken path, not a state
        made = value.loss.prediction
        for number, _ in made.states:
            layer = trace.layers.get(number)
            if not isinstance(layer, Layer) or layer.kind not in KINDS | {CELL} or number not in trained:
                continue
            reached = any(
                other is not event and number in (tensor_of(other) or Tensor()).deps for other in trace.of("backward")
            )
            if number in value.deps or reached:
                continue
            yield Finding(
                ID,
                event.place,
                f"the loss is computed from a detached state: the `{layer.kind}` gets no gradient at all",
                facts={"state": "the state", "detach_place": event.place.text, "backward_place": event.place.text},
                also=((layer.place, "never learns"),) if layer.place is not None else (),
            )
            return
