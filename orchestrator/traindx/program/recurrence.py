"""Recurrent state that no library layer carries: cells written by hand, memories that a module keeps in a field.

`out, h = net(x, h)` hands on what it was given; `self.h = torch.tanh(self.i2h(x) + self.h2h(self.h))` keeps it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from traindx.program.library.recurrent import CELL, parts_of
from traindx.program.values import Function, Instance, Items, Layer, Mapping, Method, Tensor, Value
from traindx.readers.code.syntax import all_nodes

if TYPE_CHECKING:
    from traindx.program.machine import Machine

_SAME = frozenset(["detach", "clone", "to", "contiguous", "cuda", "float"])
_KEPT = ast.Name | ast.Attribute | ast.Tuple | ast.Subscript


def carried_on(m: Machine, node: ast.Assign, value: Value, since: int) -> Value:
    """The value of an assignment, with its state marked where the assignment is one step of a recurrence.

    `since` is the place in the trace where its evaluation began: a library's recurrent layer speaks for itself.
    """
    if not m.turns or len(node.targets) != 1:
        return value
    target = node.targets[0]
    steps = isinstance(node.value, ast.Call) and not _goes_deeper(m, node.value)
    given, at = _handed_on(target, node.value) if steps and isinstance(node.value, ast.Call) else (None, None)
    layer = _callee(m, node.value) if given is not None and isinstance(node.value, ast.Call) else None
    if layer is None and isinstance(target, ast.Attribute) and _comes_from(m, node, target, value):
        given, at, layer = target, None, _layer(m, id(node))
    if given is None or layer is None or any(event.kind == "recurrent" for event in m.trace.events[since:]):
        return value
    return _step(m, node.value, value, at, given, layer)


def _goes_deeper(m: Machine, call: ast.Call) -> bool:
    """Whether the loop goes through modules and calls each: `for layer in self.layers: x = layer(x, mask)`."""
    loop = m.turns[-1].loop.node
    if not isinstance(loop, ast.For):
        return False
    if isinstance(call.func, ast.Name) and isinstance(loop.target, ast.Name):
        return call.func.id == loop.target.id
    through = {part.id for part in all_nodes(loop.target) if isinstance(part, ast.Name)}
    return any(isinstance(part, ast.Name) and part.id in through for part in all_nodes(call.func))


def _comes_from(m: Machine, node: ast.Assign, target: ast.Attribute, value: Value) -> bool:
    """Whether layers computed a value from what the field held before: zeros, then what this statement made."""
    from traindx.program.expressions import evaluate

    if not isinstance(value, Tensor) or not value.deps or value.loss is not None or value.shape == ():
        return False
    before = evaluate(m, target)
    if not isinstance(before, Tensor):
        return False
    own = m.recurrences.get(id(node))
    if own is not None and any(number == own.number for number, _ in before.states & value.states):
        return True
    return "zeros" in before.marks and bool(before.origin) and before.origin <= value.origin


def _handed_on(target: ast.expr, call: ast.Call) -> tuple[ast.expr | None, int | None]:
    """The argument that a call gives back, and its place among what it returns; None where it returns nothing else."""
    given = [*call.args, *(word.value for word in call.keywords)]
    if len(given) < 2:
        return None, None
    spelled = {_spelled(part): part for part in given}
    if ast.unparse(target) in spelled:
        return spelled[ast.unparse(target)], None
    for at, part in enumerate(target.elts if isinstance(target, ast.Tuple) else []):
        if ast.unparse(part) in spelled:
            return spelled[ast.unparse(part)], at
    return None, None


def _spelled(given: ast.expr) -> str:
    """What an argument is made of: `h` of `h.detach()`, of `h.data` and of `repackage(h)`."""
    if isinstance(given, ast.Tuple):
        return f"({', '.join(_spelled(part) for part in given.elts)})"
    if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and given.func.attr in _SAME:
        return _spelled(given.func.value)
    if isinstance(given, ast.Call) and len(given.args) == 1 and not given.keywords:
        return _spelled(given.args[0])
    if isinstance(given, ast.Attribute) and given.attr == "data":
        return _spelled(given.value)
    return ast.unparse(given) if isinstance(given, _KEPT) else ""


def _callee(m: Machine, call: ast.Call) -> Layer | None:
    """The recurrence behind a call of something of the program, or of a module that nobody knows."""
    from traindx.program.expressions import evaluate

    found = evaluate(m, call.func)
    if isinstance(found, Method) and found.function is not None:
        return _layer(m, id(found.function.node))
    if isinstance(found, Function):
        return _layer(m, id(found.node))
    if isinstance(found, Instance):
        return _layer(m, found.number)
    return found if isinstance(found, Layer) and found.kind == "?" else None


def _layer(m: Machine, key: int) -> Layer:
    if key not in m.recurrences:
        m.recurrences[key] = Layer(kind=CELL)
        m.trace.layers[m.recurrences[key].number] = m.recurrences[key]
    return m.recurrences[key]


def _step(m: Machine, node: ast.expr, value: Value, at: int | None, name: ast.expr, layer: Layer) -> Value:
    from traindx.program.expressions import evaluate

    state = evaluate(m, name)
    part = value if at is None else value.items[at] if isinstance(value, Items) and at < len(value.items) else None
    if part is None or not parts_of(state):
        return value
    before = frozenset().union(*(tensor.graph for tensor in parts_of(state)))
    # What only moves, cuts or masks a state adds nothing to its graph.
    if m.grad and not any(tensor.graph - before for tensor in parts_of(part)):
        return value
    if all(tensor.loss is not None or tensor.shape == () for tensor in parts_of(part)):
        return value
    x = _input(m, node, name)
    length = 1 if "time-step" in x.marks else None
    m.event("recurrent", node, layer, input=x, state=state, length=length, name=_spelled(name))
    made = _marked(part, frozenset({(layer.number, m.serial)}))
    if at is None or not isinstance(value, Items):
        return made
    return Items([*value.items[:at], made, *value.items[at + 1 :]], value.kind, value.more)


def _input(m: Machine, node: ast.expr, state: ast.expr) -> Tensor:
    """What goes in beside the state."""
    from traindx.program.expressions import evaluate

    for part in node.args if isinstance(node, ast.Call) else ():
        if part is not state and isinstance(part, ast.Name | ast.Subscript):
            found = evaluate(m, part)
            if isinstance(found, Tensor):
                return found
    return Tensor()


def _marked(value: Value, states: frozenset[tuple[int, int]]) -> Value:
    if isinstance(value, Tensor):
        return value.but(states=states).marked("state")
    if isinstance(value, Items):
        return Items([_marked(part, states) for part in value.items], value.kind, value.more)
    if isinstance(value, Mapping):
        return Mapping({key: _marked(part, states) for key, part in value.entries.items()}, value.more)
    return value
