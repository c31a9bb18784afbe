"""Training steps of JAX programs, which return the new weights: whether the loop that calls them keeps these."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from traindx.program.values import Place
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import all_nodes, name_of

_UPDATING = frozenset(["apply_gradients", "apply_updates"])
_WRAPPING = frozenset(["jit", "pmap", "pjit", "vmap", "partial", "shard_map", "checkify", "donate"])
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Lost(NamedTuple):
    """A call whose new weights nothing keeps."""

    call: Place
    step: str
    """the function that makes them"""
    given: str
    """what the loop goes on with"""


def lost_updates(units: Sequence[CodeUnit]) -> Iterator[Lost]:
    """Calls of a training step in a loop that throw away the part of its result that has the new weights."""
    makes = {name: at for unit in units for name, at in _updating(unit)}
    if not makes:
        return
    for unit in units:
        known = _with_wrapped(unit, makes)
        loops: list[ast.For | ast.While] = [*unit.nodes.of(ast.For)]
        for loop in loops + unit.nodes.of(ast.While):
            for statement in loop.body:
                yield from _lost(unit, loop, statement, known)


def _updating(unit: CodeUnit) -> Iterator[tuple[str, int | None]]:
    """Functions that return updated weights: their names, and the place of the weights in a tuple."""
    if unit.names.isdisjoint(_UPDATING):
        return
    for function in unit.nodes.of(ast.FunctionDef):
        updated = {
            target.id
            for node in all_nodes(function)
            if isinstance(node, ast.Assign) and _updates(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in all_nodes(function):
            if isinstance(node, ast.Return) and node.value is not None:
                parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                new = [at for at, part in enumerate(parts) if _updates(part) or name_of(part) in updated]
                if new:
                    yield function.name, new[0] if isinstance(node.value, ast.Tuple) else None


def _updates(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and name_of(node.func) in _UPDATING


def _with_wrapped(unit: CodeUnit, makes: Mapping[str, int | None]) -> dict[str, int | None]:
    """The steps and the names that they are wrapped under: `p_step = jax.pmap(partial(step, schedule=…))`."""
    known = dict(makes)
    for node in unit.nodes.of(ast.Assign):
        if isinstance(node.value, ast.Call) and name_of(node.value.func) in _WRAPPING:
            names = (name for part in all_nodes(node.value) if (name := name_of(part)) in known)
            inside = next(names, None)
            if inside is not None:
                known |= {name_of(target): known[inside] for target in node.targets}
    return known


def _lost(
    unit: CodeUnit, loop: ast.For | ast.While, statement: ast.stmt, known: Mapping[str, int | None]
) -> Iterator[Lost]:
    value = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
    picked = value.slice if isinstance(value, ast.Subscript) else None
    call = value.value if isinstance(value, ast.Subscript) else value
    if not isinstance(call, ast.Call) or name_of(call.func) not in known or not call.args:
        return
    at, given = known[name_of(call.func)], name_of(call.args[0])
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if isinstance(picked, ast.Constant):
        kept = None if picked.value != at else target
    elif at is not None and isinstance(target, ast.Tuple | ast.List):
        kept = target.elts[at] if at < len(target.elts) else target
    else:
        kept = target
    stored = {name_of(part) for part in all_nodes(loop) if isinstance(getattr(part, "ctx", None), ast.Store)}
    if not given or given in stored or (kept is not None and _is_used(unit, kept)):
        return
    yield Lost(Place(unit, statement), name_of(call.func), given)


def _is_used(unit: CodeUnit, target: ast.expr) -> bool:
    """Whether what a target is given is read anywhere: not `_`, and not a name of its own that nobody asks for."""
    if not isinstance(target, ast.Name):
        return True
    return any(node.id == target.id and isinstance(node.ctx, ast.Load) for node in unit.nodes.of(ast.Name))
