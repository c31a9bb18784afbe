"""States that a call gives back and that are kept under a name which nothing reads, while another goes in each time."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from traindx.program.analysis import Analysis
from traindx.program.values import Place
from traindx.readers.code.syntax import all_nodes


class LostState(NamedTuple):
    """`out, self.new = net(x, self.old)`, where nothing reads `self.new`, and `self.old` only ever begins anew."""

    call: Place
    given: str
    kept: str


def lost_states(analysis: Analysis) -> Iterator[LostState]:
    """Recurrent calls whose state comes back under another name than it goes in."""
    called = {id(place.node) for event in analysis.trace.of("recurrent") for place in event.calls}
    for unit in analysis.units:
        for row in unit.nodes.of(ast.Assign):
            call, target = row.value, row.targets[0]
            if not isinstance(call, ast.Call) or id(call) not in called or not isinstance(target, ast.Tuple):
                continue
            kept = target.elts[-1]
            given = [part for part in (*call.args[1:], *(key.value for key in call.keywords)) if _is_field(part)]
            if not _is_field(kept) or len(given) != 1 or ast.unparse(given[0]) == ast.unparse(kept):
                continue
            if _alike(given[0], kept) and not _is_read(analysis, kept) and _begins_anew(analysis, given[0]):
                yield LostState(Place(unit, row), ast.unparse(given[0]), ast.unparse(kept))


def _is_field(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _alike(one: ast.expr, other: ast.expr) -> bool:
    """Whether two fields are called alike: `train_state` and `dqn_state`."""
    words = [set(part.attr.lower().split("_")) for part in (one, other) if isinstance(part, ast.Attribute)]
    return len(words) == 2 and bool(words[0] & words[1])


def _is_read(analysis: Analysis, field: ast.expr) -> bool:
    name = field.attr if isinstance(field, ast.Attribute) else ""
    return any(
        node.attr == name and isinstance(node.ctx, ast.Load)
        for unit in analysis.beside or analysis.units
        for node in unit.nodes.of(ast.Attribute)
    )


def _begins_anew(analysis: Analysis, field: ast.expr) -> bool:
    """Whether a field is only ever given None, zeros or what a function makes without a state."""
    name = field.attr if isinstance(field, ast.Attribute) else ""
    values = [
        row.value
        for unit in analysis.units
        for row in unit.nodes.of(ast.Assign)
        if any(isinstance(part, ast.Attribute) and part.attr == name for part in all_nodes(ast.Tuple(row.targets)))
    ]
    return bool(values) and all(
        (isinstance(value, ast.Constant) and value.value is None)
        or (isinstance(value, ast.Call) and not any(_is_field(part) for part in value.args))
        for value in values
    )
