"""Questions that several rules ask a trace."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TypeGuard

from traindx.contract import Fact
from traindx.program.analysis import Analysis
from traindx.program.library.layers import leaves
from traindx.program.library.recurrent import parts_of
from traindx.program.trace import Event, Loop, Trace, tensor_of
from traindx.program.values import Class, Instance, Items, Layer, Made, Mapping, Parameters, Place, Plain, Tensor, Value

EVALUATION = re.compile(
    r"(?:^|_)(?:eval\w*|valid\w*|val|test\w*|infer\w*|predict\w*|accuracy|score)(?:_|$)", re.IGNORECASE
)


def is_zeroing(event: Event, optimizer: Made) -> bool:
    """Whether an event clears gradients that an optimizer uses, or may do so."""
    return event.kind == "zero" and touches(event.subject, optimizer)


def touches(subject: Value, optimizer: Made) -> bool:
    """Whether an optimizer, some parameters or a loss have to do with an optimizer; what is unknown may."""
    if isinstance(subject, Made):
        if subject is optimizer or not subject.known or not optimizer.known:
            return True
        return bool(subject.layers & optimizer.layers)
    if isinstance(subject, Parameters):
        return not subject.known or not optimizer.known or bool(subject.layers & optimizer.layers)
    if isinstance(subject, Tensor):
        return not subject.sure or not optimizer.known or bool(subject.deps & optimizer.layers)
    return True


def surely_reaches(event: Event, optimizer: Made) -> bool:
    """Whether a backward certainly gives gradients to an optimizer's parameters."""
    value = tensor_of(event)
    if event.kind != "backward" or value is None:
        return False
    if not optimizer.known or not optimizer.layers:
        return bool(value.graph) and value.sure
    return value.sure and bool(value.deps & optimizer.layers)


def steps(trace: Trace) -> dict[int, list[Event]]:
    """The steps of each optimizer, by its number."""
    found: dict[int, list[Event]] = {}
    for event in trace.of("step"):
        if isinstance(event.subject, Made):
            found.setdefault(event.subject.number, []).append(event)
    return found


def handed_out(trace: Trace, value: Value, first: int = 0, last: int | None = None) -> bool:
    """Whether something was given to code that nobody knows, which may do anything with it."""
    for event in trace.events[first:last]:
        if event.kind == "foreign" and any(_holds(part, value) for part in _given(event)):
            return True
    return False


def _given(event: Event) -> Iterator[Value]:
    call = event.facts.get("call")
    if call is not None:
        yield from call.args
        yield from call.keywords.values()


def _holds(part: Value, value: Value, depth: int = 4) -> bool:
    if part is value:
        return True
    if not depth:
        return False
    if isinstance(part, Items):
        return any(_holds(inner, value, depth - 1) for inner in part.items)
    if isinstance(part, Mapping):
        return any(_holds(inner, value, depth - 1) for inner in part.entries.values())
    if isinstance(part, Instance):
        return any(_holds(inner, value, depth - 1) for inner in part.fields.values())
    return False


def mentions(analysis: Analysis, *names: str) -> bool:
    """Whether the source has one of these names at all, wherever that may be."""
    return any(not unit.names.isdisjoint(names) for unit in analysis.units)


def tests_around(place: Place) -> list[tuple[ast.expr, bool]]:
    """The conditions that a line stands under, decided ones among them, and whether it does where they hold."""
    unit, line = place.unit, place.line
    found: list[tuple[ast.expr, bool]] = []
    for node in unit.nodes.of(ast.If):
        if node.lineno <= line <= (node.end_lineno or node.lineno):
            last = node.body[-1].end_lineno or node.body[-1].lineno
            found += [(node.test, line <= last)] if line >= node.body[0].lineno else []
    return found


def same_turn(one: Event, other: Event) -> bool:
    """Whether two events happen in the same iteration of the same loop."""
    return one.path == other.path


def is_evaluation(event: Event) -> bool:
    """Whether the function or the loop around an event is called like an evaluation."""
    if EVALUATION.search(event.function):
        return True
    loop = event.loop
    return loop is not None and loop_names(loop, EVALUATION)


def loop_names(loop: Loop, pattern: re.Pattern[str]) -> bool:
    """Whether what a loop goes through is called something like this."""
    node = loop.node
    if isinstance(node, ast.For):
        names = {getattr(part, "attr", getattr(part, "id", "")) for part in ast.walk(node.iter)}
        return any(pattern.search(name) for name in names)
    return False


def trained_layers(trace: Trace) -> frozenset[int]:
    """The layers that some optimizer holds."""
    return frozenset().union(*(made.layers for made in trace.optimizers))


def module_layers(analysis: Analysis, value: Value) -> frozenset[int]:
    """The layers with parameters inside a module; of a parameter, itself."""
    return leaves(analysis.machine, value) if isinstance(value, Layer | Instance | Tensor) else frozenset()


def assigned_at(cls: Class, name: str) -> Place | None:
    """Where a class first gives a field its value: `self.name = …`."""
    found: ast.AST | None = None
    for node in ast.walk(cls.node):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if _annotates(node) else []
        if any(isinstance(target, ast.Attribute) and target.attr == name for target in targets) and (
            found is None or getattr(node, "lineno", 0) < getattr(found, "lineno", 0)
        ):
            found = node
    return Place(cls.unit, found) if found is not None else None


def _annotates(node: ast.AST) -> TypeGuard[ast.AnnAssign]:
    return isinstance(node, ast.AnnAssign) and node.value is not None


def plain_parts(value: Value) -> list[Value]:
    """What a Python list, tuple or dictionary holds, and those inside it."""
    if not isinstance(value, Items | Mapping):
        return []
    own = value.items if isinstance(value, Items) else list(value.entries.values())
    return [*own, *(inner for part in own if part is not value for inner in _inside(part))]


def _inside(part: Value) -> list[Value]:
    if isinstance(part, Items):
        return part.items
    return list(part.entries.values()) if isinstance(part, Mapping) else []


def backward_turns(trace: Trace) -> set[tuple[int, ...]]:
    """The iterations in which a backward happens."""
    return {event.path for event in trace.of("backward")}


def loops_with(trace: Trace, *kinds: str) -> set[int]:
    """The loops (by identity of their nodes) inside which some events happen, at any depth."""
    return {id(turn.loop.node) for event in trace.of(*kinds) for turn in event.turns}


def passes_with(trace: Trace, *kinds: str) -> set[int]:
    """The passes (by identity of their loops) inside which some events happen, at any depth.

    A function that both trains and evaluates goes through the same loop for both: each call is a pass of its own.
    """
    return {id(turn.loop) for event in trace.of(*kinds) for turn in event.turns}


def pass_of(event: Event) -> int:
    """The identity of the pass that the event of a loop begins."""
    return id(event.facts["loop"])


def loss_made_at(event: Event) -> tuple[tuple[Place, str], ...]:
    """Where the loss object that an event calls was made."""
    place = event.subject.place if isinstance(event.subject, Made) else None
    return ((place, "the loss that is called"),) if place is not None and place.line != event.place.line else ()


def spelled(node: ast.AST | None, longest: int = 60) -> str:
    """An expression as it is written, shortened."""
    if node is None:
        return ""
    told = ast.unparse(node)
    return told if len(told) <= longest else told[: longest - 1] + "…"


def state_parts(event: Event) -> list[Tensor]:
    """The tensors of the state that a recurrent call was given."""
    return parts_of(event.facts.get("state"))


def state_name(event: Event) -> str:
    """How the state that a recurrent call was given is written."""
    if "name" in event.facts:
        return str(event.facts["name"])
    node = event.place.node
    if isinstance(node, ast.Call):
        given = node.args[1] if len(node.args) > 1 else next((k.value for k in node.keywords), None)
        return spelled(given)
    return ""


def is_true(value: Value | None) -> bool:
    """Whether a value is True, by a constant or a default."""
    return isinstance(value, Plain) and value.value is True


def class_of(made: Made) -> str:
    """The class of an optimizer or scheduler."""
    told = made.fields.get("@class")
    return str(told.value) if isinstance(told, Plain) else ""


def counts(guard: ast.expr) -> bool:
    """Whether a condition counts: `(i + 1) % n == 0`."""
    return any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) for part in ast.walk(guard))


def called(event: Event) -> str:
    """What a call calls, as it is written: `self.net` of `self.net(x)`."""
    node = event.place.node
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def first_value(event: Event, name: str) -> Place | None:
    """The assignment that gives a name its value before the loops around an event begin."""
    loops = [turn.loop for turn in event.turns if turn.loop.place.unit is event.turns[0].loop.place.unit]
    if not loops or not name:
        return None
    unit, first = loops[0].place.unit, loops[0].place.line
    found: Place | None = None
    for node in unit.nodes.of(ast.Assign):
        if node.lineno < first:
            targets = [ast.unparse(part) for target in node.targets for part in _flat_targets(target)]
            if name in targets and (found is None or node.lineno > found.line):
                found = Place(unit, node)
    return found


def _flat_targets(target: ast.expr) -> list[ast.expr]:
    return list(target.elts) if isinstance(target, ast.Tuple | ast.List) else [target]


def named_only(analysis: Analysis, method: str, others: frozenset[str] = frozenset()) -> tuple[tuple[Place, str], ...]:
    """The first statement that names a method and does not call it, `optimizer.zero_grad`, with what that means;
    `others` are owners that it does not matter for."""
    for unit in analysis.units if mentions(analysis, method) else ():
        for node in unit.nodes.of(ast.Expr):
            if (
                isinstance(node.value, ast.Attribute)
                and node.value.attr == method
                and ast.unparse(node.value.value) not in others
            ):
                claim = f"`{ast.unparse(node.value)}` is named here and, without parentheses, not called"
                return ((Place(unit, node), claim),)
    return ()


def named_place(named: tuple[tuple[Place, str], ...]) -> dict[str, Fact]:
    """The fact that leads a fix to a method that is only named."""
    return {"named_place": named[0][0].text} if named else {}
