"""Functions of numbers: what `get_lr(step)` gives for one step, worked out from its source without running it."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Number = float
Lookup = Callable[[ast.expr], "Number | None"]
"""what a name or attribute outside the function holds, where that is a number"""
Functions = Mapping[str, ast.FunctionDef]
"""functions of the same program that may be called, by name"""
MOST_STATEMENTS = 400

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_CALLED: dict[str, Callable[..., Any]] = {
    **{name: getattr(math, name) for name in ("cos", "sin", "sqrt", "log", "log10", "log2", "floor", "ceil", "tanh")},
    "exp": lambda x: math.exp(min(x, 700.0)),
    "pow": math.pow,
    "min": min,
    "max": max,
    "minimum": min,
    "maximum": max,
    "abs": abs,
    "float": float,
    "int": int,
    "round": round,
    "clip": lambda x, low, high: min(max(x, low), high),
}


class NotANumber(Exception):
    """Something in the function has no value that its source tells."""


class Function:
    """A piece of source that turns a count into a number: a function, a lambda, or the body of a loop."""

    def __init__(self, outside: Lookup, wanted: str = "", functions: Functions | None = None, depth: int = 4) -> None:
        self._outside = outside
        self._wanted = wanted
        """the key whose assignment is the result (`group["lr"] = …`); empty for what is returned"""
        self._functions = functions or {}
        self._depth = depth
        self._names: dict[str, Number] = {}
        self._left = MOST_STATEMENTS

    def call(self, node: ast.FunctionDef | ast.Lambda, given: dict[str, Number]) -> Number:
        """The result for these arguments; raises `NotANumber` where it cannot be told."""
        arguments = node.args
        names = [part.arg for part in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        defaults: list[ast.expr | None] = [*arguments.defaults, *arguments.kw_defaults]
        late = [*[None] * (len(names) - len(defaults)), *defaults]
        for name, default in zip(names, late, strict=False):
            if name in given:
                self._names[name] = given[name]
            elif isinstance(default, ast.Constant):
                self._names[name] = self.value(default)
        if isinstance(node, ast.Lambda):
            return self.value(node.body)
        return self.follow(node.body, given)

    def follow(self, body: Sequence[ast.stmt], given: dict[str, Number]) -> Number:
        """The result of some statements."""
        self._names.update(given)
        found = self._run(body)
        if found is None:
            raise NotANumber
        return found

    def _run(self, body: Sequence[ast.stmt]) -> Number | None:
        last: Number | None = None
        for statement in body:
            self._left -= 1
            if self._left < 0:
                raise NotANumber
            found, ended = self._statement(statement)
            if found is not None:
                last = found
            if ended:
                return last
        return last

    def _statement(self, node: ast.stmt) -> tuple[Number | None, bool]:
        """What a statement gives as the result, and whether it ends the function."""
        if isinstance(node, ast.Return):
            if self._wanted:
                return None, True
            if node.value is None:
                raise NotANumber
            return self.value(node.value), True
        if isinstance(node, ast.If):
            return self._if(node)
        if isinstance(node, ast.For):  # `for group in optimizer.param_groups: group["lr"] = lr`
            return self._run(node.body) if self._wanted else None, False
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            return self._assign(node.targets[0], node.value), False
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name | ast.Subscript):
            whole = ast.BinOp(
                ast.Name(node.target.id) if isinstance(node.target, ast.Name) else node.target, node.op, node.value
            )
            return self._assign(node.target, whole), False
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            return self._assign(node.target, node.value), False
        return None, False

    def _if(self, node: ast.If) -> tuple[Number | None, bool]:
        try:
            holds = bool(self.value(node.test))
        except NotANumber:
            if self._wanted and not sets_key([node], self._wanted):
                return None, False
            raise
        body = node.body if holds else node.orelse
        ends = any(isinstance(part, ast.Return) for part in body)
        return self._run(body), ends

    def _assign(self, target: ast.expr, value: ast.expr) -> Number | None:
        wanted = bool(self._wanted) and is_key(target, self._wanted)
        try:
            found = self.value(value)
        except NotANumber:
            if wanted:
                raise
            if isinstance(target, ast.Name):
                self._names.pop(target.id, None)
            return None
        if isinstance(target, ast.Name):
            self._names[target.id] = found
        return found if wanted else None

    def value(self, node: ast.expr) -> Number:
        """The value of an expression."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return node.value
        if isinstance(node, ast.Name) and node.id in self._names:
            return self._names[node.id]
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            return self._known(node)
        if isinstance(node, ast.UnaryOp):
            return self._unary(node)
        if isinstance(node, ast.BinOp):
            return self._binary(node)
        if isinstance(node, ast.Compare):
            return self._compare(node)
        if isinstance(node, ast.BoolOp):
            parts = (bool(self.value(part)) for part in node.values)
            return all(parts) if isinstance(node.op, ast.And) else any(parts)
        if isinstance(node, ast.IfExp):
            return self.value(node.body if self.value(node.test) else node.orelse)
        if isinstance(node, ast.Call):
            return self._call(node)
        raise NotANumber

    def _known(self, node: ast.expr) -> Number:
        if isinstance(node, ast.Attribute) and node.attr == "pi":
            return math.pi
        found = self._outside(node)
        if found is None:
            raise NotANumber
        return found

    def _unary(self, node: ast.UnaryOp) -> Number:
        inner = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return not inner
        return -inner if isinstance(node.op, ast.USub) else inner

    def _binary(self, node: ast.BinOp) -> Number:
        left, right = self.value(node.left), self.value(node.right)
        try:
            if isinstance(node.op, ast.Pow):
                return math.pow(left, right)
            made = _BINARY.get(type(node.op))
            if made is None:
                raise NotANumber
            result: Number = made(left, right)
            return result
        except (ArithmeticError, ValueError) as error:
            raise NotANumber from error

    def _compare(self, node: ast.Compare) -> Number:
        values = [self.value(node.left), *(self.value(part) for part in node.comparators)]
        for at, op in enumerate(node.ops):
            compared = _COMPARED.get(type(op))
            if compared is None:
                raise NotANumber
            if not compared(values[at], values[at + 1]):
                return False
        return True

    def _try(self, node: ast.expr) -> Number | None:
        try:
            return self.value(node)
        except NotANumber:
            return None

    def _call(self, node: ast.Call) -> Number:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        own = self._functions.get(name)
        if own is not None and self._depth:
            names = [part.arg for part in own.args.args if part.arg != "self"]
            given = {
                arg: told for arg, part in zip(names, node.args, strict=False) if (told := self._try(part)) is not None
            }
            given |= {
                part.arg: told for part in node.keywords if part.arg and (told := self._try(part.value)) is not None
            }
            return Function(self._outside, "", self._functions, self._depth - 1).call(own, given)
        made = _CALLED.get(name)
        if made is None or node.keywords or not node.args:
            raise NotANumber
        try:
            return float(made(*(self.value(part) for part in node.args)))
        except (ArithmeticError, ValueError, TypeError) as error:
            raise NotANumber from error


def is_key(node: ast.expr, name: str) -> bool:
    """`anything["name"]`."""
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == name


def sets_key(body: Sequence[ast.stmt], name: str) -> bool:
    """Whether some of these statements, or statements inside them, write `anything["name"]`."""
    return any(
        is_key(target, name)
        for statement in body
        for part in ast.walk(statement)
        if isinstance(part, ast.Assign | ast.AugAssign)
        for target in (part.targets if isinstance(part, ast.Assign) else [part.target])
    )
