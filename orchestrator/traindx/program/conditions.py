"""Whether a condition holds, where that can be decided."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from traindx.program import bounds, expressions
from traindx.program.streams import batches
from traindx.program.values import (
    Class,
    Function,
    Guess,
    Instance,
    Items,
    Layer,
    Library,
    Made,
    Mapping,
    Plain,
    Tensor,
    Value,
    is_none,
)

if TYPE_CHECKING:
    from traindx.program.machine import Machine

_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_SETTLED = frozenset({"constant", "config", "omitted"})
"""values that are written in the program, or once in the run's settings, or left at their default by the call that is
followed: they decide a comparison"""
_ONCE = frozenset({"DataParallel", "DistributedDataParallel"})


def truth(m: Machine, test: ast.expr) -> bool | None:
    """True, False, or None where both are possible."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = truth(m, test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        return _combined([truth(m, part) for part in test.values], isinstance(test.op, ast.And))
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compare(m, test)
    if isinstance(test, ast.Call):
        name = test.func.id if isinstance(test.func, ast.Name) else getattr(test.func, "attr", "")
        if name in {"isinstance", "is_tensor", "hasattr", "callable"} and test.args:
            return _kind(m, test, name)
    return truth_of(expressions.evaluate(m, test))


def _combined(parts: list[bool | None], both: bool) -> bool | None:
    if both:
        return False if False in parts else None if None in parts else True
    return True if True in parts else None if None in parts else False


def truth_of(value: Value) -> bool | None:
    """Whether a value counts as true; what a command line may change counts as neither."""
    if isinstance(value, Plain):
        return bool(value.value) if value.sure in {"constant", "omitted", "config"} else None
    if isinstance(value, Instance | Layer | Made | Function | Class):
        return True
    if isinstance(value, Items | Mapping) and not value.more:
        return None  # what a loop has filled by now is not known
    return None


def _never_divides(m: Machine, test: ast.Compare) -> bool:
    """Whether `(i + 1) % every == 0` holds in no batch of the epoch: there are fewer batches than that."""
    left, zero = test.left, test.comparators[0]
    if not (isinstance(test.ops[0], ast.Eq) and isinstance(zero, ast.Constant) and zero.value == 0 and m.turns):
        return False
    if not isinstance(left, ast.BinOp) or not isinstance(left.op, ast.Mod) or not isinstance(left.left, ast.BinOp):
        return False
    counted, one = left.left.left, left.left.right
    if not isinstance(left.left.op, ast.Add) or not (isinstance(one, ast.Constant) and one.value == 1):
        return False
    loop = m.turns[-1].loop
    target = loop.node.target if isinstance(loop.node, ast.For) else None
    if not (isinstance(target, ast.Tuple) and ast.unparse(target.elts[0]) == ast.unparse(counted)):
        return False
    every, turns = expressions.evaluate(m, left.right), batches(m, loop.source)
    if not isinstance(every, Plain) or every.sure not in _SETTLED or not isinstance(every.value, int):
        return False
    if turns is None or not 0 < turns < every.value:
        return False
    m.event("never", test, every, batches=turns)
    return True


def _compare(m: Machine, test: ast.Compare) -> bool | None:
    op = test.ops[0]
    if _never_divides(m, test):
        return False
    settled = bounds.decided(m, test)
    if settled is not None:
        if not settled:
            m.event("impossible", test, Plain(None))
        return settled
    left, right = expressions.evaluate(m, test.left), expressions.evaluate(m, test.comparators[0])
    if isinstance(op, ast.Eq) and _number_and_text(left, right):
        m.event("mismatched", test, right, left=left)
        return False
    if isinstance(op, ast.Is | ast.IsNot):
        same = _same(left, right)
        return None if same is None else same is isinstance(op, ast.Is)
    if isinstance(op, ast.In | ast.NotIn):
        held = _contains(right, left)
        return None if held is None else held is isinstance(op, ast.In)
    if isinstance(left, Plain) and isinstance(right, Plain) and {left.sure, right.sure} <= _SETTLED:
        if isinstance(left.value, str) and left.name == "__name__":
            return True if isinstance(op, ast.Eq) else None
        compared = _COMPARED.get(type(op))
        both = (left.value, right.value)
        if compared is not None and all(isinstance(part, int | float | str | None) for part in both):
            try:
                return bool(compared(left.value, right.value))
            except TypeError:
                return None
    return None


def _contains(whole: Value, part: Value) -> bool | None:
    """Whether a known text is in another one, or in a list of texts that is written in the program."""
    if not isinstance(part, Plain) or part.sure not in _SETTLED or not isinstance(part.value, str):
        return None
    if isinstance(whole, Plain) and isinstance(whole.value, str) and whole.sure in _SETTLED:
        return part.value in whole.value
    rows = whole.items if isinstance(whole, Items) and not whole.more and whole.kind == "tuple" else []
    texts = [row.value for row in rows if isinstance(row, Plain) and row.sure in _SETTLED]
    return part.value in texts if rows and len(texts) == len(rows) else None


def _number_and_text(left: Value, right: Value) -> bool:
    """Whether a count is compared with a text: `epoch == "4"`, as a configuration parser gives it."""
    for one, other in ((left, right), (right, left)):
        counted = isinstance(one, Plain) and (one.name == "index" or type(one.value) in {int, float})
        worded = isinstance(other, Plain) and isinstance(other.value, str) and other.sure == "config"
        if counted and worded and isinstance(other, Plain) and str(other.value).lstrip("-").isdigit():
            return True
    return False


def _same(left: Value, right: Value) -> bool | None:
    if isinstance(left, Plain) and isinstance(right, Plain) and isinstance(right.value, bool):
        settled = {left.sure, right.sure} <= _SETTLED and isinstance(left.value, bool | None)
        return left.value is right.value if settled else None
    for one, other in ((left, right), (right, left)):
        if is_none(one) and isinstance(one, Plain) and one.sure == "constant":
            if is_none(other):
                return True if isinstance(other, Plain) and other.sure == "constant" else None
            if isinstance(other, Plain):
                return False if other.sure == "constant" else None
            return None if isinstance(other, Guess) or type(other) is Value or isinstance(other, Library) else False
    return None


def _kind(m: Machine, test: ast.Call, name: str) -> bool | None:
    value = expressions.evaluate(m, test.args[0])
    if isinstance(value, Guess) or type(value) is Value:
        return None
    if name == "is_tensor":
        return isinstance(value, Tensor)
    if name in {"hasattr", "callable"} or len(test.args) < 2:
        return None
    wanted = expressions.evaluate(m, test.args[1])
    names = [wanted] if not isinstance(wanted, Items) else wanted.items
    found = [_is_a(value, kind) for kind in names]
    return True if True in found else None if None in found else False


def _is_a(value: Value, kind: Value) -> bool | None:
    last = kind.name.rpartition(".")[2] if isinstance(kind, Library) else ""
    if isinstance(kind, Class):
        return value.cls is kind or None if isinstance(value, Instance) else False
    if last in {"Tensor", "Variable", "ndarray"}:
        return isinstance(value, Tensor)
    if last in {"tuple", "list"}:
        return isinstance(value, Items) and value.kind == last
    if last == "dict":
        return isinstance(value, Mapping)
    if isinstance(value, Layer) and last:
        if last == "Module":
            return True
        return None if value.guessed or value.kind == "?" else value.kind == last
    if isinstance(value, Instance) and last:
        return None if last == "Module" or last in _ONCE else False
    if isinstance(value, Tensor) and last:
        return False
    return None
