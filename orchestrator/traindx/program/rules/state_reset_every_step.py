"""The state is made anew for every step where it should flow on.

## What it finds
A recurrent cell, or a recurrent layer that is given one time step at a time, called in a loop over time with a state
that is new (zeros or None) in every iteration; a module that stores its state for the next window and is reset before
it; a policy that learns from whole episodes and acts on one observation at a time, without a state; a cell of the
program that makes its state where none is given, and is never given the one that it returned; a state that comes back
under another name than it goes in.

## Why it matters
The network sees each step alone: it has no memory, and is no better than a model without recurrence.

## Silent
Whole sequences in one call, states that are handed on, samples in random order.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.program.acting import forgetful
from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.library.recurrent import is_fresh, parts_of
from traindx.program.lost_states import lost_states
from traindx.program.omitting import left_out
from traindx.program.queries import is_true, loops_with
from traindx.program.trace import Event
from traindx.program.values import Items, Layer, Made, Place, Stream, Tensor
from traindx.readers.code.codeunit import CodeUnit

ID = "state-reset-every-step"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at calls with one time step and a new state, in a loop."""
    trace = analysis.trace
    found = [*_kept_for_nothing(analysis), *_twice(analysis), *_never_given(analysis), *_acts_without(analysis)]
    yield from found
    yield from left_out(analysis, ID)
    yield from _under_another_name(analysis)
    done: set[int] = set()
    for call in trace.of("recurrent"):
        if call.facts.get("length") != 1 or not call.turns or id(call.place.node) in done:
            continue
        if not is_fresh(call.facts.get("state")) or call.turns[-1].number < 2 or not call.grad:
            continue
        same = [e for e in trace.of("recurrent") if e.place.node is call.place.node and e.path == call.path]
        if len(same) > 1 or not _in_time(call):
            continue
        done.add(id(call.place.node))
        loop = call.turns[-1].loop
        yield Finding(
            ID,
            call.place,
            f"the loop at {loop.place.text} goes through time, and each step gets a new state: nothing is kept",
            facts={"state_place": call.place.text, "loop_place": loop.place.text},
            also=(*_born(call), (loop.place, "goes through the time steps")),
        )


def _under_another_name(analysis: Analysis) -> Iterator[Finding]:
    """A state that is kept under a name which nothing reads."""
    for row in lost_states(analysis):
        yield Finding(
            ID,
            row.call,
            f"the new state is kept as `{row.kept}`, which nothing reads: each call begins with `{row.given}` again",
            facts={"lost_place": row.call.text, "kept_as": row.kept, "given_as": row.given},
        )


def _kept_for_nothing(analysis: Analysis) -> Iterator[Finding]:
    """A module that stores its state for the next window, and is reset before every one of them."""
    trace = analysis.trace
    learning = loops_with(trace, "step")
    calls: dict[int, list[Event]] = {}
    for call in trace.of("recurrent"):
        if call.grad and call.turns and id(call.turns[-1].loop.node) in learning:
            calls.setdefault(id(call.place.node), []).append(call)
    for rows in calls.values():
        node = rows[0].place.node
        given = node.args[1] if isinstance(node, ast.Call) and len(node.args) > 1 else None
        if not isinstance(given, ast.Attribute) or len({row.path for row in rows}) < 2:
            continue
        if not all(is_fresh(row.facts.get("state")) for row in rows) or not all(_in_order(row) for row in rows):
            continue
        kept = _stored(rows[0].place.unit, given.attr)
        if kept is None:
            continue
        loop = rows[0].turns[-1].loop
        resets = [one for one in trace.functions if one.name != "__init__"]
        places = (Place(one.unit, node) for one in resets for node in ast.walk(one.node))
        reset = next((place for place in places if _clears(place.node, given.attr)), None)
        yield Finding(
            ID,
            reset or rows[0].place,
            f"`self.{given.attr}` is kept for the next window at {kept.text}, and each iteration of the loop at"
            f" {loop.place.text} begins with a new one: nothing is carried",
            facts={"state_place": rows[0].place.text, "loop_place": loop.place.text},
            also=((kept, "keeps the state for the next window"), (rows[0].place, "gets a new state every time")),
        )


def _twice(analysis: Analysis) -> Iterator[Finding]:
    """A state that is made before a loop, handed on by every step, and made again in each of them."""
    trace = analysis.trace
    done: set[int] = set()
    for call in trace.of("recurrent"):
        if not call.grad or not call.turns or call.turns[-1].number < 2 or id(call.place.node) in done:
            continue
        if not is_fresh(call.facts.get("state")):
            continue
        for again in trace.of("fresh"):
            name = str(again.facts["name"])
            if again.path != call.path or again.at > call.at or not _holds(call, again):
                continue
            outside = [
                event
                for event in trace.of("fresh")
                if event.facts["name"] == name
                and event.place.node is not again.place.node
                and event.at < again.at
                and event.path == call.path[: len(event.path)]
                and len(event.path) < len(call.path)
                and not _in_constructor(event)
            ]
            if not outside or not _handed_on(analysis, name):
                continue
            done.add(id(call.place.node))
            loop = call.turns[-1].loop
            yield Finding(
                ID,
                again.place,
                f"`{name}` is made before the loop at {loop.place.text} and again in each of its iterations: what one"
                " step hands on is thrown away",
                facts={"state_place": call.place.text, "loop_place": loop.place.text},
                also=(
                    (outside[-1].place, "the state is made here already"),
                    (call.place, "gets a new state every time"),
                ),
            )
            break


def _never_given(analysis: Analysis) -> Iterator[Finding]:
    """A state that is taken from every window and detached for the next one, which never gets it."""
    trace = analysis.trace
    done: set[int] = set()
    for call in trace.of("recurrent"):
        layer = call.subject
        if not call.grad or not call.turns or not is_fresh(call.facts.get("state")) or not isinstance(layer, Layer):
            continue
        for cut in trace.of("cut"):
            value = cut.subject
            if not isinstance(value, Tensor) or cut.path != call.path or id(cut.place.node) in done:
                continue
            older = [serial for number, serial in value.states if number == layer.number and serial != call.path[-1]]
            taken = any(
                part.states & value.states
                for other in trace.of("recurrent")
                for part in parts_of(other.facts.get("state"))
            )
            if not older or taken or "detach" not in str(cut.facts.get("by")) or "hidden" in cut.facts:
                continue
            done.add(id(cut.place.node))
            loop = call.turns[-1].loop
            place = call.calls[-1] if call.calls else call.place
            yield Finding(
                ID,
                place,
                f"the state of the last window is detached at {cut.place.text} and never given to the next one: each"
                f" iteration of the loop at {loop.place.text} begins with a new one",
                facts={"state_place": call.place.text, "loop_place": loop.place.text},
                also=(
                    (cut.place, "prepares the state for the next window"),
                    (call.place, "gets a new state every time"),
                ),
            )


def _acts_without(analysis: Analysis) -> Iterator[Finding]:
    """A recurrent policy that acts step by step, each step with a new state."""
    for call in forgetful(analysis.trace):
        loop = call.turns[-1].loop
        place = call.calls[-1] if call.calls else call.place
        yield Finding(
            ID,
            place,
            f"the loop at {loop.place.text} takes one step of an environment at a time, and each step gets a new state:"
            " what was seen before is forgotten",
            facts={"state_place": place.text, "loop_place": loop.place.text},
            also=((call.place, "gets a new state every time"), (loop.place, "goes through the steps")),
        )


def _holds(call: Event, again: Event) -> bool:
    """Whether the call was given exactly what was made there."""
    made = {id(part.made.node) for part in parts_of(again.subject) if part.made is not None}
    given = {id(part.made.node) for part in parts_of(call.facts.get("state")) if part.made is not None}
    return bool(made & given)


def _in_constructor(event: Event) -> bool:
    return event.function == "__init__"


def _handed_on(analysis: Analysis, name: str) -> bool:
    """Whether some statement takes the state out of a call and keeps it under its name."""
    for unit in analysis.units:
        for node in unit.nodes.of(ast.Assign):
            if isinstance(node.value, ast.Call) and len(node.value.args) > 1:
                targets = [part for target in node.targets for part in ast.walk(target)]
                names = {getattr(part, "attr", getattr(part, "id", "")) for part in targets}
                given = {getattr(p, "attr", getattr(p, "id", "")) for arg in node.value.args for p in ast.walk(arg)}
                if name in names & given:
                    return True
    return False


def _in_order(call: Event) -> bool:
    """Whether the windows come in their order: a list, or a loader that does not shuffle."""
    source = call.turns[-1].loop.source
    source = source.source if isinstance(source, Stream) else source
    return isinstance(source, Items) or _in_time(call)


def _stored(unit: CodeUnit, name: str) -> Place | None:
    """Where a field is given a detached state: `self.h = h.detach()`."""
    for node in unit.nodes.of(ast.Assign):
        if any(getattr(part, "attr", "") == name for part in node.targets):
            calls = [part.func for part in ast.walk(node.value) if isinstance(part, ast.Call)]
            if any(isinstance(part, ast.Attribute) and part.attr == "detach" for part in calls):
                return Place(unit, node)
    return None


def _clears(node: ast.AST, name: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else []
    empty = isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is None
    return empty and any(getattr(part, "attr", "") == name for part in targets)


def _born(call: Event) -> tuple[tuple[Place, str], ...]:
    """Where the new state is made."""
    places = [part.made for part in parts_of(call.facts.get("state")) if part.made is not None]
    return tuple((place, "a new state for every step") for place in places[:2])


def _in_time(call: Event) -> bool:
    """Whether the iterations follow each other in time: an index into a sequence, or samples in their order."""
    given = call.facts.get("input")
    if isinstance(given, Tensor) and "time-step" in given.marks:
        return True
    source = call.turns[-1].loop.source
    if isinstance(source, Stream):
        source = source.source
    if isinstance(source, Made) and source.kind == "DataLoader":
        shuffled = is_true(source.argument(2, "shuffle")) or "sampler" in source.keywords
        return not shuffled
    if isinstance(source, Tensor):
        return "shuffled" not in source.marks
    return False
