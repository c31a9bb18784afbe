"""Columns that are chosen with the labels of all rows, before the rows are parted; read from the statements alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import all_nodes

CHOOSING = frozenset({"argsort", "argpartition", "topk", "nlargest", "flatnonzero", "argwhere", "nonzero", "where"})


_COLUMN = re.compile(r"\[\s*:\s*,\s*[A-Za-z_]")
_CONVERTING = frozenset(
    [
        "tensor",
        "from_numpy",
        "as_tensor",
        "astype",
        "float",
        "long",
        "to",
        "FloatTensor",
        "LongTensor",
        "array",
        "asarray",
    ]
)


class Selection(NamedTuple):
    """Where columns are scored with the labels, where they are chosen, and where rows are picked afterwards."""

    scored: ast.stmt
    chosen: ast.stmt
    parted: ast.AST
    data: str
    labels: str


def picks_columns(unit: CodeUnit, block: Sequence[ast.stmt] = ()) -> bool:
    """Whether a file, or one block of it, has something like `x[:, best]`: without it nothing is chosen."""
    lines = unit.once("picks columns", partial(_picking_lines, unit))
    return bool(lines) if not block else any(block[0].lineno <= at <= (block[-1].end_lineno or at) for at in lines)


def _picking_lines(unit: CodeUnit) -> list[int]:
    found, at, begin = [], 1, 0
    for sign in _COLUMN.finditer(unit.source):
        at, begin = at + unit.source.count("\n", begin, sign.start()), sign.start()
        found.append(at)
    return found


def choosing_functions(units: Iterable[CodeUnit], called: frozenset[str]) -> frozenset[str]:
    """The functions among those called that return a choice of columns: their names."""
    likely = (unit for unit in units if not unit.names.isdisjoint(CHOOSING))
    functions = (node for unit in likely for node in unit.nodes.of(ast.FunctionDef))
    return frozenset(
        node.name
        for node in functions
        if node.name in called
        and any(isinstance(part, ast.Call) and _called(part) in CHOOSING for part in all_nodes(node))
    )


def selections(body: Sequence[ast.stmt], choosers: frozenset[str] = frozenset()) -> Iterator[Selection]:
    """Choices of columns in a block: `x = x[:, best]`, `best` from `x` and `y`, then `x[a], y[a]` and `x[b], y[b]`.

    `choosers` are functions of the program that choose columns.
    """
    choosing = CHOOSING | choosers
    reads: dict[str, frozenset[str]] = {}
    chooses: dict[str, ast.stmt] = {}
    for place, statement in enumerate(body):
        if not isinstance(statement, ast.Assign):
            continue
        names = _names(statement.value)
        for target, value in _pairs(statement):
            data, by = _columns(value)
            if isinstance(by, ast.Call) and _called(by) in choosing:
                yield from _parted(body[place + 1 :], target, data, _names(by), statement, statement)
            elif isinstance(by, ast.Name) and by.id in chooses:
                yield from _parted(body[place + 1 :], target, data, reads[by.id], statement, chooses[by.id])
        sources = names.union(*(reads.get(name, frozenset()) for name in names))
        for target, _ in _pairs(statement):
            reads[target] = sources
            if any(isinstance(node, ast.Call) and _called(node) in choosing for node in ast.walk(statement.value)):
                chooses[target] = statement
            else:
                chooses.pop(target, None)


def _pairs(statement: ast.Assign) -> list[tuple[str, ast.expr]]:
    """The names that an assignment binds, each with its value."""
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        both = zip(target.elts, value.elts, strict=True)
        return [(one.id, other) for one, other in both if isinstance(one, ast.Name)]
    return [(target.id, value)] if isinstance(target, ast.Name) else []


def _columns(value: ast.expr) -> tuple[str, ast.expr | None]:
    """`x` and `best` of `x[:, best]`."""
    if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name) and isinstance(value.slice, ast.Tuple):
        parts = value.slice.elts
        whole = isinstance(parts[0], ast.Slice) and parts[0].lower is None and parts[0].upper is None
        if len(parts) == 2 and whole:
            return value.value.id, parts[1]
    return "", None


def _parted(
    after: Sequence[ast.stmt], chosen: str, data: str, sources: frozenset[str], at: ast.stmt, scored: ast.stmt
) -> Iterator[Selection]:
    """Rows that are picked afterwards from the chosen columns and from an array that the choice was made with."""
    picked: dict[str, dict[str, ast.AST]] = {}
    also = {name: _made_of(after, name) for name in {chosen, *sources}}
    for statement in after:
        for node in ast.walk(statement):
            if (
                isinstance(node, ast.Subscript)
                and isinstance(node.value, ast.Name)
                and isinstance(node.slice, ast.Name)
            ):
                for name in {node.value.id, *(name for name, made in also.items() if node.value.id in made)}:
                    picked.setdefault(name, {}).setdefault(node.slice.id, node)
    rows = picked.get(chosen, {})
    # Indices that the choice was made with are the training rows: it has not seen the others.
    if data not in sources or sources & rows.keys():
        return
    for labels in sorted(sources & picked.keys() - {chosen, data}):
        shared = [name for name in rows if name in picked[labels]]
        if len(shared) > 1:
            yield Selection(scored, at, rows[shared[0]], data, labels)
            return


def _made_of(body: Sequence[ast.stmt], name: str) -> frozenset[str]:
    """The names that stand for all rows of an array in another form: `xt = torch.tensor((x - mean) / std)`."""
    found = set[str]()
    for statement in body:
        for node in ast.walk(statement):
            for target, value in _pairs(node) if isinstance(node, ast.Assign) else ():
                parts = [part for part in ast.walk(value) if isinstance(part, ast.Name) and part.id == name]
                chosen = [part.value for part in ast.walk(value) if isinstance(part, ast.Subscript)]
                if any(not any(part is one for one in chosen) for part in parts) and _keeps_rows(value):
                    found.add(target)
    return frozenset(found)


def _keeps_rows(value: ast.expr) -> bool:
    """A conversion or arithmetic, not the output of a model or a statistic."""
    called = [_called(node) for node in ast.walk(value) if isinstance(node, ast.Call)]
    return all(name in _CONVERTING for name in called)


def _names(node: ast.AST) -> frozenset[str]:
    return frozenset(one.id for one in ast.walk(node) if isinstance(one, ast.Name))


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
