"""The value of an expression."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from traindx.program import looping, operators
from traindx.program.attributes import attribute
from traindx.program.joining import join
from traindx.program.subscripts import subscript
from traindx.program.values import (
    UNKNOWN,
    Function,
    Guess,
    Items,
    Library,
    Mapping,
    Parameters,
    Plain,
    Stream,
    Tensor,
    Value,
)

if TYPE_CHECKING:
    from traindx.program.machine import Machine

_BUILTINS = frozenset(dir(builtins))
DEEP = 60
"""expressions within expressions that are evaluated; deeper ones stay unknown"""


def evaluate(m: Machine, node: ast.expr | None) -> Value:
    """What an expression gives, in the present state of the program."""
    if node is None:
        return Plain(None)
    step = _EXPRESSIONS.get(type(node))
    return step(m, node) if step is not None else UNKNOWN


def _constant(m: Machine, node: ast.Constant) -> Value:
    return Plain(node.value)


def _name(m: Machine, node: ast.Name) -> Value:
    found = m.scope.find(node.id)
    if found is not None:
        return found
    if node.id == "__name__":
        return Plain("__main__", "constant", "__name__")
    return Library(f"builtins.{node.id}") if node.id in _BUILTINS else Guess(node.id)


def _attribute(m: Machine, node: ast.Attribute) -> Value:
    return attribute(m, evaluate(m, node.value), node.attr, node)


def _call(m: Machine, node: ast.Call) -> Value:
    from traindx.program.calling import call_node

    m.tick()
    return call_node(m, node)


def _sequence(m: Machine, node: ast.Tuple | ast.List | ast.Set) -> Value:
    items: list[Value] = []
    more = False
    for part in node.elts[:200]:
        if isinstance(part, ast.Starred):
            inner = evaluate(m, part.value)
            if isinstance(inner, Items):
                items += inner.items
                more = more or inner.more
            elif isinstance(inner, Parameters):
                items.append(inner)
            else:
                more = True
        else:
            items.append(evaluate(m, part))
    kind = "tuple" if isinstance(node, ast.Tuple) else "list"
    return Items(items, kind, more)


def _dict(m: Machine, node: ast.Dict) -> Value:
    entries: dict[str, Value] = {}
    more = False
    for key, part in zip(node.keys[:300], node.values[:300], strict=True):
        value = evaluate(m, part)
        if key is None:
            more = True
            if isinstance(value, Mapping):
                entries.update(value.entries)
            continue
        known = evaluate(m, key)
        entries[str(known.value) if isinstance(known, Plain) else "?"] = value
    return Mapping(entries, more)


def _binary(m: Machine, node: ast.BinOp) -> Value:
    # `a + b + c + …` is a chain to the left: it is walked, not recursed into.
    chain: list[ast.BinOp] = []
    inner: ast.expr = node
    while isinstance(inner, ast.BinOp):
        chain.append(inner)
        inner = inner.left
    value = evaluate(m, inner)
    for part in reversed(chain):
        value = operators.binary(m, part, value, evaluate(m, part.right))
    return value


def _unary(m: Machine, node: ast.UnaryOp) -> Value:
    value = evaluate(m, node.operand)
    if isinstance(node.op, ast.USub):
        return operators.negated(m, value)
    if isinstance(node.op, ast.Not):
        from traindx.program.conditions import truth_of

        known = truth_of(value)
        return Plain(not known) if known is not None else Plain(None, "varies")
    return value


def _boolean(m: Machine, node: ast.BoolOp) -> Value:
    from traindx.program.conditions import truth_of

    value = evaluate(m, node.values[0])
    for part in node.values[1:]:
        known = truth_of(value)
        if known is not None and known is isinstance(node.op, ast.Or):
            return value
        other = evaluate(m, part)
        value = other if known is not None else join(value, other)
    return value


def _compare(m: Machine, node: ast.Compare) -> Value:
    parts = [evaluate(m, node.left), *(evaluate(m, part) for part in node.comparators)]
    tensors = [part for part in parts if isinstance(part, Tensor)]
    if tensors:
        shape = operators.broadcast(parts[0], parts[1]) if len(parts) == 2 else None
        from traindx.program.values import Cut

        cut = Cut("a comparison", m.place(node)) if any(part.graph for part in tensors) else None
        origin: frozenset[int] = frozenset().union(*(part.origin for part in tensors))
        return Tensor(shape=shape, dtype="bool", cut=cut, origin=origin, marks=frozenset({"bits"}))
    from traindx.program.conditions import _compare as decided

    known = decided(m, node) if len(node.ops) == 1 else None
    if known is None and len(node.ops) == 1:
        return _by_default(node.ops[0], parts)
    return Plain(known) if known is not None else Plain(None, "varies")


def _by_default(op: ast.cmpop, parts: list[Value]) -> Plain:
    """Whether two values are equal as long as nobody changes a default."""
    both = [part.value for part in parts if isinstance(part, Plain) and part.sure in {"constant", "omitted", "default"}]
    if len(both) < 2 or not isinstance(op, ast.Eq | ast.NotEq):
        return Plain(None, "varies")
    return Plain((both[0] == both[1]) is isinstance(op, ast.Eq), "default")


def _conditional(m: Machine, node: ast.IfExp) -> Value:
    from traindx.program.conditions import truth

    known = truth(m, node.test)
    if known is not None:
        return evaluate(m, node.body if known else node.orelse)
    guards = m.guards
    m.guards = (*guards, node.test)
    body = evaluate(m, node.body)
    m.guards = (*guards, ast.UnaryOp(ast.Not(), node.test))
    other = evaluate(m, node.orelse)
    m.guards = guards
    return join(body, other)


def _lambda(m: Machine, node: ast.Lambda) -> Value:
    made = Function(node, m.unit, m.scope)
    m.defined.append(made)
    return made


def _listed(m: Machine, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Value:
    rows = looping.comprehension(m, node, [node.elt])
    source = evaluate(m, node.generators[0].iter)
    if isinstance(source, Parameters):
        found = [row[0] for row in rows]
        parameters = [part for part in found if isinstance(part, Parameters)]
        if parameters:
            return parameters[0]
    kind = "list" if isinstance(node, ast.ListComp | ast.SetComp) else "generator"
    exact = isinstance(source, Items) and not source.more and not any(g.ifs for g in node.generators)
    if not exact:
        return Items([row[0] for row in rows][:8], kind, True)
    return Items([row[0] for row in rows], kind, len(node.generators) > 1)


def _mapped(m: Machine, node: ast.DictComp) -> Value:
    rows = looping.comprehension(m, node, [node.key, node.value])
    entries = {str(key.value) if isinstance(key, Plain) else "?": value for key, value in rows}
    return Mapping(entries, True)


def _formatted(m: Machine, node: ast.JoinedStr) -> Value:
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            with m.only_told():
                evaluate(m, part.value)
    return Plain("", "varies")


def _bound(m: Machine, node: ast.NamedExpr) -> Value:
    from traindx.program import binding

    value = evaluate(m, node.value)
    binding.bind(m, node.target, value, node)
    return value


def _awaited(m: Machine, node: ast.Await) -> Value:
    return evaluate(m, node.value)


def _yielded(m: Machine, node: ast.Yield | ast.YieldFrom) -> Value:
    value = evaluate(m, node.value)
    if isinstance(node, ast.YieldFrom) and isinstance(value, Stream):
        value = value.element
    m.frames[-1].yielded.append(value)
    return UNKNOWN


_EXPRESSIONS: dict[type[ast.expr], Callable[[Machine, Any], Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.Tuple: _sequence,
    ast.List: _sequence,
    ast.Set: _sequence,
    ast.Dict: _dict,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.Lambda: _lambda,
    ast.ListComp: _listed,
    ast.GeneratorExp: _listed,
    ast.SetComp: _listed,
    ast.DictComp: _mapped,
    ast.JoinedStr: _formatted,
    ast.NamedExpr: _bound,
    ast.Await: _awaited,
    ast.Yield: _yielded,
    ast.YieldFrom: _yielded,
    ast.Subscript: subscript,
}
