"""Which column of a table the program predicts, whatever it is called: `t.activity`, `df.pop("risk")`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of
from traindx.readers.tables.column import ColumnInfo
from traindx.readers.tables.datatables import TableInfo
from traindx.vocabulary.data_names import is_input, is_label

MOST_CLASSES = 100
FEWEST_INPUTS = 2
_TARGET = re.compile(r"^(?:y|ys|yt|yv|tgt|gold|gt)(?:[_\d]|$)|label|target|^cls$|^classes$|^truth$", re.IGNORECASE)
_PAIRING = {"TensorDataset", "zip", "from_tensor_slices", "train_test_split", "fit"}
_LEAVING_OUT = {"drop", "pop"}


def target_columns(code: Sequence[CodeUnit], tables: Sequence[TableInfo]) -> frozenset[str]:
    """The columns of classes that the program takes for targets; where no code tells, what only a target looks like."""
    if any(is_label(column.name) for table in tables for column in table.columns):
        return frozenset()  # their names tell
    known = {
        column.name: column for table in tables for column in table.columns if is_input(column.name) and _is_few(column)
    }
    told = {name for unit in code for name in _taken(unit.tree, frozenset(known))}
    return frozenset(told) or frozenset(name for table in tables for name in _by_its_looks(table))


def _is_few(column: ColumnInfo) -> bool:
    return 2 <= len(column.values) <= MOST_CLASSES


def _taken(tree: ast.Module, columns: frozenset[str]) -> Iterator[str]:
    """The columns that stand where targets do."""
    for node in ast.walk(tree):
        for value in _targets(node):
            named = _named(value, columns)
            if len(named) == 1:
                yield from named


def _targets(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions of a statement or call that give targets."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        to, value = node.targets[0], node.value
        if isinstance(to, ast.Tuple) and isinstance(value, ast.Tuple) and len(to.elts) == len(value.elts):
            pairs = list(zip(to.elts, value.elts, strict=True))
        else:
            pairs = [(to, value)]
        for name, given in pairs:
            if isinstance(name, ast.Name | ast.Attribute) and _TARGET.search(name_of(name)):
                yield given
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and len(node.value.elts) == 2:
        yield node.value.elts[1]
    elif isinstance(node, ast.Call):
        called = name_of(node.func)
        if called in _PAIRING and len(node.args) >= 2:
            yield node.args[1]
        elif called in _LEAVING_OUT:
            yield from [*node.args[:1], *(row.value for row in node.keywords if row.arg in {"columns", "labels"})]
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.NotIn | ast.NotEq):
        yield node.comparators[0]  # `[c for c in columns if c not in ("id", "risk")]`


def _named(value: ast.expr, columns: frozenset[str]) -> set[str]:
    texts = {part.value for part in ast.walk(value) if isinstance(part, ast.Constant) and isinstance(part.value, str)}
    return (texts | {part.attr for part in ast.walk(value) if isinstance(part, ast.Attribute)}) & columns


def _by_its_looks(table: TableInfo) -> Iterator[str]:
    """The last column, where it alone holds whole numbers from nought without a gap and all inputs are measured."""
    inputs = [column for column in table.columns if is_input(column.name)]
    if len(inputs) <= FEWEST_INPUTS or inputs[-1] is not table.columns[-1]:
        return
    *measured, last = inputs
    classes = {str(number) for number in range(len(last.values))}
    if _is_few(last) and set(last.values) == classes and not any(column.values or column.texts for column in measured):
        yield last.name
