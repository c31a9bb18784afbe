"""Calls that give back what they were given, taken one step on: `out, h = net(x, h)`, `h = cell(x, h)`."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from traindx.program.library.recurrent import parts_of
from traindx.program.trace import Event, Trace
from traindx.program.values import Guess, Items, Library, Method, Tensor, Value

if TYPE_CHECKING:
    from traindx.program.machine import Machine

_STATE_ARGUMENTS = frozenset({"hx", "h", "h0", "hidden", "state", "states", "carry", "memory", "hidden_state"})
_LIBRARIES = frozenset({"torch", "F", "np", "numpy", "jnp", "math", "operator"})
_SAME = (".detach()", ".data", ".clone()")
_NAMED = ast.Name | ast.Attribute


@dataclass(frozen=True, slots=True)
class Handed:
    """A state as a call gave it back, for as long as nothing else is bound to its name."""

    value: Value
    path: tuple[int, ...]
    """the loop iterations in which that was"""


def handed_on(m: Machine, node: ast.Assign) -> list[Event]:
    """Write down the states that an assignment takes one step on, before its call is followed."""
    call = node.value
    if not m.turns or not isinstance(call, ast.Call) or len(node.targets) != 1:
        return []
    target = node.targets[0]
    rows = m.unit.once(("handed on", id(node)), lambda: _steps(target, call))
    if not rows or not (isinstance(target, ast.Tuple | ast.List) or _is_a_cell(m, call)):
        return []
    return [_event(m, node, name, part) for name, part in rows]


def given_back(m: Machine, node: ast.Assign, events: list[Event]) -> None:
    """Remember what is bound to the names of states after the call."""
    names = {event.facts["name"] for event in events}
    for part in _targets(node.targets[0]) if names else ():
        if ast.unparse(part) in names:
            value = _aside(m, part)
            if isinstance(value, Guess | Tensor | Items):
                m.handed[id(value)] = Handed(value, m.paths[m.serial])


def is_attached(event: Event, machine: Machine, depth: int) -> bool:
    """Whether a state comes from another iteration of the loop at a depth with its graph, which nothing took away."""
    given, present = event.facts["given"], event.path[depth]
    for part in parts_of(given):
        paths = [machine.paths.get(serial, ()) for serial in part.graph]
        if part.sure and any(len(path) > depth and path[depth] != present for path in paths):
            return True
    known = event.facts["handed"]
    same = isinstance(known, Handed) and len(known.path) > depth and known.path[depth] != present
    parts = parts_of(given)
    return same and (not parts or any(not part.sure or "opaque" in part.marks for part in parts))


def _event(m: Machine, node: ast.Assign, name: str, part: ast.expr) -> Event:
    given = _aside(m, part)
    return m.event("handed-on", node, given, name=name, given=given, handed=m.handed.get(id(given)))


def _aside(m: Machine, node: ast.expr) -> Value:
    """The value of an expression, without a trace of its evaluation: what a call in it changes is undone."""
    from traindx.program.expressions import evaluate

    trace, mark = m.trace, m.journal.mark()
    m.trace = Trace(layers=trace.layers)
    try:
        return evaluate(m, node)
    finally:
        m.trace = trace
        m.journal.rewind(mark)


def _targets(target: ast.expr) -> list[ast.expr]:
    """The names that are bound, those in tuples among them."""
    if isinstance(target, ast.Tuple | ast.List):
        return [inner for part in target.elts for inner in _targets(part)]
    return [target] if isinstance(target, _NAMED) else []


def _steps(target: ast.expr, call: ast.Call) -> list[tuple[str, ast.expr]]:
    """A call that gives back one thing takes its state after the input, or by name: `x = block(x, mask)` and
    `total = max(loss, total)` are none.
    """
    names = {ast.unparse(part) for part in _targets(target)}
    if isinstance(target, ast.Tuple | ast.List):
        given = [inner for part in call.args for inner in _parts(part)]
    else:
        given = [*call.args[1:], *(key.value for key in call.keywords if key.arg in _STATE_ARGUMENTS)]
    found = {_undetached(part): part for part in given if isinstance(part, ast.expr)}
    return [(name, found[name]) for name in sorted(names & found.keys())]


def _parts(given: ast.expr) -> list[ast.expr]:
    """What an argument is made of: `h` and `c` of `(h, c)`, `h` of `repackage(h)`, which stands for itself."""
    if isinstance(given, ast.Tuple | ast.List):
        return [inner for part in given.elts for inner in _parts(part)]
    return [given.value if isinstance(given, ast.Starred) else given]


def _undetached(given: ast.expr) -> str:
    """`h` of `h`, of `h.detach()` and of `repackage(h)`."""
    if isinstance(given, ast.Call) and len(given.args) == 1 and not given.keywords:
        return _undetached(given.args[0])
    if isinstance(given, _NAMED | ast.Call):
        told = ast.unparse(given)
        for ending in _SAME:
            told = told.removesuffix(ending)
        return told
    return ""


def _is_a_cell(m: Machine, call: ast.Call) -> bool:
    """Whether what is called may be a recurrent cell: no builtin, and no function of torch, numpy or math."""
    found = _aside(m, call.func)
    if isinstance(found, Library):
        return False
    owner = found.owner if isinstance(found, Method) else found
    name = owner.name if isinstance(owner, Guess) else ""
    return name.partition(".")[0] not in _LIBRARIES
