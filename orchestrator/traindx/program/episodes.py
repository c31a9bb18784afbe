"""States that an object keeps between its calls, and episodes that do not call the method that would reset them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from traindx.program.analysis import Analysis
from traindx.program.states import carrying_loop, is_certain, outer_name
from traindx.program.trace import Event
from traindx.program.values import Place
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import all_nodes

_FIRST_VALUES = frozenset(["zeros", "new_zeros", "zeros_like", "init_hidden", "zero_state", "initial_state"])


class Forgotten(NamedTuple):
    """A loop over episodes that resets its environment, and not the state."""

    begins: Place
    """where the environment is reset"""
    resetting: Place
    """the method that would reset the state"""
    method: str
    call: Event
    state: str


def forgotten_resets(analysis: Analysis) -> Iterator[Forgotten]:
    """Recurrent calls whose state goes from one episode into the next, and has a reset that nobody calls."""
    done: set[int] = set()
    for call in analysis.trace.of("recurrent"):
        loop = carrying_loop(analysis, call)
        if loop is None or id(loop.node) in done or not isinstance(loop.node, ast.For | ast.While):
            continue
        if not is_certain(call) or loop is call.turns[-1].loop:
            continue
        begins = next(_resets(loop.node), None)
        field = outer_name(call).rpartition(".")[2]
        method = next(_resetting(analysis, field), None)
        if begins is None or method is None or _is_called(analysis, method[1].name):
            continue
        done.add(id(loop.node))
        unit, function = method
        yield Forgotten(Place(loop.place.unit, begins), Place(unit, function), function.name, call, outer_name(call))


def _resets(loop: ast.For | ast.While) -> Iterator[ast.Call]:
    """The calls in a loop that reset something that it steps through: an environment."""
    stepped = {_owner(node) for node in all_nodes(loop) if _is_method(node, "step")}
    yield from (node for node in all_nodes(loop) if _is_method(node, "reset") and _owner(node) in stepped)  # type: ignore[misc]


def _resetting(analysis: Analysis, field: str) -> Iterator[tuple[CodeUnit, ast.FunctionDef]]:
    """Methods that do nothing but give a field its first value: None, zeros, what the constructor gives it."""
    for unit in analysis.units:
        for cls in unit.nodes.of(ast.ClassDef):
            for function in cls.body:
                if isinstance(function, ast.FunctionDef) and function.name != "__init__" and len(function.body) <= 3:
                    body = [row for row in function.body if isinstance(row, ast.Assign)]
                    if any(_is_first(row, field) for row in body) and len(body) == len(function.body):
                        yield unit, function


def _is_first(row: ast.Assign, field: str) -> bool:
    """`self.h = None`, `self.h = torch.zeros(…)`."""
    if not any(isinstance(part, ast.Attribute) and part.attr == field for part in row.targets):
        return False
    none = isinstance(row.value, ast.Constant) and row.value.value is None
    names = {getattr(part, "attr", getattr(part, "id", "")) for part in all_nodes(row.value)}
    return none or not names.isdisjoint(_FIRST_VALUES)


def _is_called(analysis: Analysis, method: str) -> bool:
    """Whether a method of this name is called on anything that is not stepped through as an environment is."""
    for unit in analysis.beside or analysis.units:
        stepped = {_owner(node) for node in unit.nodes.of(ast.Call) if _is_method(node, "step")}
        if any(_is_method(node, method) and _owner(node) not in stepped for node in unit.nodes.of(ast.Call)):
            return True
    return False


def _is_method(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name


def _owner(node: ast.AST) -> str:
    return ast.unparse(node.func.value) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
