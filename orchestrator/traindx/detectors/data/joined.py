"""Two files that name their rows, in different orders, and a program that pairs them row by row."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import combinations

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.citing import cite_line
from traindx.detectors.data import alignment
from traindx.detectors.data.places import cite_array
from traindx.detectors.program import column_reads
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import all_nodes
from traindx.readers.tables.arrays import ArrayInfo
from traindx.readers.tables.identities import Identities

SIGNALS = {"labels-misaligned": alignment.SIGNALS["labels-misaligned"]}
FEWEST = 20
SAME_ROWS = 0.98
"""share of the names that both files have: they are about the same rows"""
SAME_PLACE = 0.5
"""share of the names that stand in the same row of both, above which the order is the same but for a few"""


def detect(found: Sequence[Identities], arrays: Sequence[ArrayInfo], code: Sequence[CodeUnit]) -> list[Signal]:
    """The pair whose names nothing in the program reads: it can only be joined by position."""
    said = {
        node.value
        for unit in code
        for node in all_nodes(unit.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    spelt = said | {name for unit in code for name in unit.names}
    for one, other in combinations(found, 2):
        if one.path == other.path or not code or {one.column, other.column} & spelt:
            continue
        share = _in_place(one, other)
        if share is None or share >= SAME_PLACE:
            continue
        what = f"{one.path} and {other.path}"
        claim = f"{what} name the same {len(one.names):,} rows, {share:.0%} of them in the same place"
        places = [_cite(row, claim, arrays) for row in (one, other)]
        places += [place for row in (one, other) for name in row.others for place in column_reads.reads(name, code)]
        facts: dict[str, Fact] = {
            "align_what": what,
            "align_how": f"joined by position, while `{one.column}` and `{other.column}` are in different orders",
        }
        return [Signal(id="labels-misaligned", claim=claim, citations=places, facts=facts)]
    return []


def _in_place(one: Identities, other: Identities) -> float | None:
    """The share of names that stand in the same row; None where the files are not about the same rows."""
    if len(one.names) != len(other.names) or len(one.names) < FEWEST:
        return None
    if len(set(one.names) & set(other.names)) < SAME_ROWS * len(one.names):
        return None
    return sum(mine == theirs for mine, theirs in zip(one.names, other.names, strict=True)) / len(one.names)


def _cite(row: Identities, claim: str, arrays: Sequence[ArrayInfo]) -> Citation:
    array = next((info for info in arrays if (info.path, info.member) == (row.path, row.member)), None)
    return cite_array(array, claim) if array is not None else cite_line(row.path, 2, claim)
