"""Recurrent state over the iterations of loops: who hands it on, and what becomes of its graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from traindx.program.analysis import Analysis
from traindx.program.library.recurrent import is_fresh, parts_of
from traindx.program.queries import state_name, state_parts
from traindx.program.trace import Event, Loop, tensor_of
from traindx.program.values import Place, Tensor

_DETACHING = frozenset({"`.detach()`", "`.data`"})


@dataclass(frozen=True)
class Reused:
    """A backward that reaches an earlier iteration through a state."""

    backward: Event
    call: Event
    """the recurrent call that took the state"""
    name: str
    partial: bool
    """whether other parts of the same state are detached"""
    kept: bool
    """whether the graph is kept with `retain_graph=True`"""
    discarded: Event | None
    """a detach of it whose result is thrown away"""
    halfway: Place | None = None
    """where a part of the state is detached"""


def reused(analysis: Analysis) -> Iterator[Reused]:
    """Every state that brings a spent graph into a backward, once per call that takes it."""
    trace = analysis.trace
    seen: set[int] = set()
    for event in trace.of("backward"):
        again, value = set(event.facts.get("again", ())), tensor_of(event)
        if not again or value is None or not value.sure:
            continue
        for call in trace.events[_spent_at(trace.of("backward"), event, again) : event.at]:
            if call.kind != "recurrent" or id(call.place.node) in seen:
                continue
            parts = state_parts(call)
            attached = [part for part in parts if part.graph & again and part.sure]
            if not attached:
                continue
            seen.add(id(call.place.node))
            cut = [part for part in parts if not part.graph and part.states]
            kept = bool(event.facts["retain"])
            lost = _discarded(trace.events, call, attached)
            halfway = next((part.cut.place for part in cut if part.cut is not None), None)
            yield Reused(event, call, outer_name(call), bool(cut), kept, lost, halfway)
            break


def _spent_at(backwards: list[Event], event: Event, again: set[int]) -> int:
    """The place in the trace of the last backward before this one that went through the same graph."""
    for earlier in reversed(backwards[: backwards.index(event)]):
        value = tensor_of(earlier)
        if value is not None and value.graph & again:
            return earlier.at
    return 0


def outer_name(call: Event) -> str:
    """What the state is called where it is handed to the outermost module, else where the layer takes it."""

    for place in call.calls:
        node = place.node
        if (
            isinstance(node, ast.Call)
            and len(node.args) > 1
            and isinstance(node.args[1], ast.Name | ast.Attribute | ast.Tuple)
        ):
            names = {"hidden", "state", "h", "hx", "hc", "carry", "memory", "states", "hiddens"}
            told = ast.unparse(node.args[1])
            if any(word in told.lower() for word in names):
                return told.removesuffix(".detach()")
    return state_name(call).removesuffix(".detach()") or "the state"


def _discarded(events: list[Event], call: Event, attached: list[Tensor]) -> Event | None:
    """A statement in the same loop that detaches this state and drops the result."""
    states = frozenset().union(*(part.states for part in attached))
    for event in events:
        if event.kind != "discarded" or not event.turns or event.turns[0].loop.node is not call.turns[0].loop.node:
            continue
        dropped = parts_of(event.subject)
        if dropped and all(_detached(part) for part in dropped) and any(part.states & states for part in dropped):
            return event
    return None


def _detached(part: Tensor) -> bool:
    """Whether a tensor is what a detach gave; a number that was printed, or what an unknown function gave, is not."""
    known = part.cut is None or part.cut.by in _DETACHING
    return not part.graph and known and "opaque" not in part.marks


def carrying_loop(analysis: Analysis, call: Event) -> Loop | None:
    """The loop over whose iterations a call's state was handed on; None for a state that is new."""
    if is_fresh(call.facts.get("state")):
        return None
    for part in state_parts(call):
        for _, serial in part.states:
            path = analysis.machine.paths.get(serial, ())
            for depth, turn in enumerate(call.turns):
                if depth >= len(path) or path[depth] != turn.serial:
                    return turn.loop if depth < len(path) else None
    return None


def is_certain(call: Event) -> bool:
    """Whether no path gives the call a new state instead."""
    return not any("maybe-fresh" in part.marks for part in state_parts(call))
