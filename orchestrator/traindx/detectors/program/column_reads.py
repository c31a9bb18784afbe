"""Where a program reads the column that a finding in the data speaks of."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from traindx.contract import Citation, Signal
from traindx.detectors.citing import cite_code
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import all_nodes

MOST = 2


def reads(column: str, code: Sequence[CodeUnit]) -> list[Citation]:
    """The lines that take the column by its name: `df["species"]`, `row["label"]`."""
    claim = f"`{column}` is read here"
    taken = [
        (unit, node.lineno)
        for unit in code
        for node in all_nodes(unit.tree)
        if isinstance(node, ast.Subscript)
        and any(isinstance(part, ast.Constant) and part.value == column for part in ast.walk(node.slice))
    ]
    return [cite_code(unit, line, claim) for unit, line in taken][:MOST]


def added(signals: Sequence[Signal], code: Sequence[CodeUnit]) -> list[Signal]:
    """The signals with the lines that read the column which each of them names in its fact `label_column`."""
    return [
        one.model_copy(update={"citations": [*one.citations, *reads(str(one.facts["label_column"]), code)]})
        if "label_column" in one.facts
        else one
        for one in signals
    ]
