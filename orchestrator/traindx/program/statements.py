"""How statements change the state of a program."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from traindx.program import binding
from traindx.program.conditions import truth
from traindx.program.definitions import define_class, define_function, import_from, import_names
from traindx.program.expressions import evaluate
from traindx.program.handing import given_back, handed_on
from traindx.program.looping import follow_for, follow_while
from traindx.program.operators import augmented
from traindx.program.recurrence import carried_on
from traindx.program.values import Guess, Items, Made, Object, Plain

if TYPE_CHECKING:
    from traindx.program.machine import Machine

Status = str
"""empty where the next statement follows; `return`, `break`, `continue` or `raise` where not"""


def follow(m: Machine, body: Sequence[ast.stmt]) -> Status:
    """Follow statements until one of them leaves the block."""
    guards = m.guards
    for statement in body:
        m.tick()
        step = _STATEMENTS.get(type(statement))
        status = step(m, statement) if step is not None else ""
        if status:
            m.guards = guards
            return status
        if m.left is not None:
            # One side of a condition has left the block: what follows happens under the other.
            m.guards, m.left = (*m.guards, m.left), None
    m.guards = guards
    return ""


def branch(m: Machine, test: ast.expr, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]) -> Status:
    """Follow both sides of a condition that cannot be decided, and join what they leave behind."""
    mark, guards = m.journal.mark(), m.guards
    m.guards = (*guards, test)
    first = follow(m, body)
    changed = m.journal.rewind(mark)
    second = follow(m, orelse)
    others = m.journal.rewind(mark)
    m.guards = guards
    m.left = test if bool(first) != bool(second) else None
    if first and not second:
        m.journal.merge(others, others)
    elif second and not first:
        m.journal.merge(changed, changed)
    else:
        m.journal.merge(changed, others)
    return first if first == second else first and second and "return"


def _if(m: Machine, node: ast.If) -> Status:
    decided = truth(m, node.test)
    if decided is None:
        return branch(m, node.test, node.body, node.orelse)
    return follow(m, node.body if decided else node.orelse)


def _assign(m: Machine, node: ast.Assign) -> Status:
    handed = handed_on(m, node)
    since = len(m.trace.events)
    value = carried_on(m, node, evaluate(m, node.value), since)
    if _is_lost(m, node):
        m.event("discarded", node, value)
    for target in node.targets:
        binding.bind(m, target, value, node)
    given_back(m, node, handed)
    return ""


def _is_lost(m: Machine, node: ast.Assign) -> bool:
    """`for part in state: part = part.detach()`: the name is bound anew in the next iteration, and nothing reads it."""
    target, value = node.targets[0], node.value
    loop = m.turns[-1].loop.node if m.turns else None
    if not isinstance(target, ast.Name) or not isinstance(loop, ast.For) or node not in loop.body:
        return False
    if not isinstance(loop.target, ast.Name) or loop.target.id != target.id or not isinstance(value, ast.Call):
        return False
    after = loop.body[loop.body.index(node) + 1 :]
    return not any(isinstance(part, ast.Name) and part.id == target.id for row in after for part in ast.walk(row))


def _annotated(m: Machine, node: ast.AnnAssign) -> Status:
    if node.value is not None:
        binding.bind(m, node.target, evaluate(m, node.value), node)
    return ""


def _augmented(m: Machine, node: ast.AugAssign) -> Status:
    binding.bind(m, node.target, augmented(m, node), node)
    return ""


def _expression(m: Machine, node: ast.Expr) -> Status:
    value = evaluate(m, node.value)
    if isinstance(node.value, ast.Call):
        m.event("discarded", node, value)
    return ""


def _return(m: Machine, node: ast.Return) -> Status:
    value = evaluate(m, node.value) if node.value is not None else Plain(None)
    m.frames[-1].returned.append(value)
    return "return"


def _with(m: Machine, node: ast.With | ast.AsyncWith) -> Status:
    grad, autocast, off = m.grad, m.autocast, m.off
    for item in node.items:
        value = evaluate(m, item.context_expr)
        if isinstance(value, Made):
            _enter(m, value)
            m.off = m.place(item.context_expr) if not m.grad and grad else m.off
        if item.optional_vars is not None:
            binding.bind(m, item.optional_vars, value, node)
    status = follow(m, node.body)
    m.grad, m.autocast, m.off = grad, autocast, off
    return status


def _enter(m: Machine, value: Made) -> None:
    if value.kind in {"no_grad", "inference_mode"}:
        m.grad = False
    elif value.kind == "enable_grad":
        m.grad = True
    elif value.kind == "set_grad_enabled":
        given = value.args[0] if value.args else None
        if isinstance(given, Plain) and isinstance(given.value, bool) and given.sure == "constant":
            m.grad = given.value
    elif value.kind == "autocast":
        m.autocast = (*m.autocast, value)


def _try(m: Machine, node: Any) -> Status:
    status = follow(m, node.body) or follow(m, node.orelse)
    if status == "raise" and node.handlers:
        status = follow(m, node.handlers[0].body)
    after = follow(m, node.finalbody)
    return after or status


def _match(m: Machine, node: ast.Match) -> Status:
    for case in node.cases:
        branch(m, node.subject, case.body, [])
    return ""


def _delete(m: Machine, node: ast.Delete) -> Status:
    for target in node.targets:
        if isinstance(target, ast.Name):
            m.journal.drop(m.scope.names, target.id)
        elif isinstance(target, ast.Attribute):
            owner = evaluate(m, target.value)
            if isinstance(owner, Object):
                m.journal.drop(owner.fields, target.attr)
        elif isinstance(target, ast.Subscript):
            owner = evaluate(m, target.value)
            if isinstance(owner, Items):
                whole = isinstance(target.slice, ast.Slice) and target.slice.lower is target.slice.upper is None
                m.journal.put(owner, "items", [] if whole else owner.items[1:])
    return ""


def _global(m: Machine, node: ast.Global | ast.Nonlocal) -> Status:
    for name in node.names:
        m.scope.names[f"@outer {name}"] = Guess()
    return ""


_STATEMENTS: dict[type[ast.stmt], Callable[[Machine, Any], Status]] = {
    ast.If: _if,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Expr: _expression,
    ast.Return: _return,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.Match: _match,
    ast.Delete: _delete,
    ast.Global: _global,
    ast.Nonlocal: _global,
    ast.For: follow_for,
    ast.AsyncFor: follow_for,
    ast.While: follow_while,
    ast.FunctionDef: define_function,
    ast.AsyncFunctionDef: define_function,
    ast.ClassDef: define_class,
    ast.Import: import_names,
    ast.ImportFrom: import_from,
    ast.Break: lambda m, node: "break",  # noqa: ARG005 - every statement takes the machine
    ast.Continue: lambda m, node: "continue",  # noqa: ARG005 - and its node
    ast.Raise: lambda m, node: "raise",  # noqa: ARG005
}
if hasattr(ast, "TryStar"):
    _STATEMENTS[ast.TryStar] = _try
