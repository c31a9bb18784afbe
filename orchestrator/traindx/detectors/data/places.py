"""Citing data: a line of a text table, a column of one that has no lines, an array."""

from __future__ import annotations

from traindx.contract import Citation
from traindx.detectors.citing import cite_line
from traindx.readers.tables.arrays import ArrayInfo
from traindx.readers.tables.column import ColumnInfo
from traindx.readers.tables.datatables import TableInfo

_WITHOUT_LINES = (".parquet",)


def cite_cell(table: TableInfo, column: ColumnInfo, line: int | None, claim: str) -> Citation:
    """A line of a column, where the file has lines; else the column."""
    if line is not None and has_lines(table):
        return cite_line(table.path, line, claim)
    return Citation(claim=claim, source=table.path, locator=f"column {column.name}", quote=column.described)


def cite_array(array: ArrayInfo, claim: str) -> Citation:
    """An array of a file, by its name where the file holds several."""
    locator = f"array {array.member}" if array.member else "array"
    return Citation(claim=claim, source=array.path, locator=locator, quote=array.described)


def has_lines(table: TableInfo) -> bool:
    """Whether rows of the table are lines of its file."""
    return not table.path.lower().endswith(_WITHOUT_LINES)


def place_name(table: TableInfo, line: int | None) -> str:
    """`train.csv:41`, or `row 41 of train.parquet`."""
    if line is None:
        return table.path
    return f"{table.path}:{line}" if has_lines(table) else f"row {line} of {table.path}"


def array_name(array: ArrayInfo) -> str:
    """The file, and the array in it where it holds several."""
    return f"{array.path}[{array.member}]" if array.member else array.path
