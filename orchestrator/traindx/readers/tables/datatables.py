"""Tables of samples (not of metrics): columns with their ranges, missing values and labels."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from traindx.readers.coverage import Allowance
from traindx.readers.logs.lines import RawBlocks
from traindx.readers.tables.column import Column, ColumnInfo, number_in

if TYPE_CHECKING:
    from traindx.readers.logs.bulk.digits import Places
    from traindx.readers.tables.cells import Cells
    from traindx.readers.tables.nativerows import NativeRows

_BLOCK = 2 << 20
_SMALL = 16 << 10
"""bytes that are read row by row: less than numpy takes to get going"""
_MOST_COLUMNS = 500
_LONGEST_LINE = 100_000
_SEPARATORS = "\t;,|"


@dataclass(frozen=True)
class TableInfo:
    """A table of samples."""

    path: str
    columns: tuple[ColumnInfo, ...]
    rows: int
    """rows that were read"""
    whole: bool
    ragged: int = 0
    """rows with more or fewer cells than the header"""


class _Reader:
    """Reads one table of samples, block by block."""

    def __init__(self, native: NativeRows | None) -> None:
        self._native = native
        self.columns: list[Column] = []
        self.separator = ""
        self.rows = self.ragged = 0
        self.too_wide = ""

    def block(self, first: int, data: bytes) -> None:
        """Take in whole lines, the first of which has this number."""
        data = data.replace(b"\r\n", b"\n") if b"\r" in data else data
        while data and not self.columns and not self.too_wide:
            line, _, data = data.partition(b"\n")
            self._line(first, line.decode(errors="replace"))
            first += 1
        if not data or self.too_wide:
            return
        odd = b'"' in data or b"\r" in data or (len(self.columns) == 1 and b"\n\n" in data)
        if odd or len(data) <= _SMALL or len(self.columns) >= _MOST_COLUMNS:
            self._lines(first, data)
        else:
            data += b"" if data.endswith(b"\n") else b"\n"
            if not self._plain(first, data):
                self._mixed(first, data)

    def _lines(self, first: int, data: bytes) -> None:
        for line_number, text in enumerate(data.decode(errors="replace").split("\n"), first):
            self._line(line_number, text)

    def _plain(self, first: int, data: bytes) -> bool:
        """Take in a block in which there is nothing but numbers and empty cells, if it is one."""
        import numpy as np

        piece = self._native.read(data, self.separator, len(self.columns), spelt=True) if self._native else None
        if piece is None:
            return False
        lines = np.arange(first, first + piece.rows)
        for column, (values, present, spell) in zip(self.columns, piece.columns, strict=True):
            column.take_many(values, present, lines, spell)
        self.rows += piece.rows
        return True

    def _mixed(self, first: int, data: bytes) -> None:
        """Take in a block with texts in it: column by column, and rows of another length one by one."""
        import numpy as np

        from traindx.readers.tables.cells import Rows

        rows = Rows(data, self.separator, len(self.columns))
        lines = first + np.flatnonzero(rows.regular)
        for place, column in enumerate(self.columns):
            cells = rows.cells(place, number_in)

            def spell(chosen: Places, cells: Cells = cells) -> bytes:
                return rows.spelled(cells.starts.take(chosen), cells.ends.take(chosen))

            column.take_many(cells.values, cells.present, lines, spell)
        self.rows += len(lines)
        for row in np.flatnonzero(~rows.regular).tolist():
            self._line(first + row, data[rows.begins[row] : rows.ends[row]].decode(errors="replace"))

    def _line(self, line: int, text: str) -> None:
        if len(text) > _LONGEST_LINE:
            cells_there = text.count(self.separator or ",")
            self.too_wide = f"line {line} has {cells_there:,} cells or more: too wide to be read"
        if self.too_wide or not text.strip() or (not self.columns and text.startswith("#")):
            return
        self.separator = self.separator or max(_SEPARATORS, key=text[:4_000].count)
        cells = split_cells(text, self.separator)
        if not self.columns:
            self.columns = [Column(name) for name in _header(cells)]
            if not all(number_in(cell) is not None for cell in cells):
                return
        self.ragged += len(cells) != len(self.columns) and len(cells) <= _MOST_COLUMNS
        for column, cell in zip(self.columns, cells, strict=False):
            column.take(cell, line)
        self.rows += 1


def read_data_table(
    handle: BinaryIO, path: str, allowance: Allowance | None = None, block: int = _BLOCK
) -> tuple[TableInfo | None, list[str]]:
    """The columns of a separated table of samples, and what is to be said about it."""
    allowance = allowance or Allowance()
    reader = _Reader(_native(handle))
    blocks = RawBlocks(handle, block, allowance=Allowance(allowance.timer))
    for first, data in blocks:
        reader.block(first, data)
        if reader.too_wide:
            return None, [f"`{path}`: {reader.too_wide}"]
    if blocks.long_lines:
        return None, [f"`{path}`: {blocks.long_lines:,} lines are too wide to be read"]
    if not reader.rows:
        return None, [f"`{path}`: not a table of samples: it has no rows"]
    allowance.note(reader.rows, reader.rows * blocks.of // max(1, blocks.read))
    remarks = [f"`{path}`: {trouble}" for trouble in blocks.troubles]
    if reader.ragged:
        remarks.append(f"`{path}`: {reader.ragged:,} rows have more or fewer cells than the first")
    columns = tuple(column.info() for column in reader.columns)
    return TableInfo(path, columns, reader.rows, blocks.read == blocks.of, reader.ragged), remarks


def _native(handle: BinaryIO) -> NativeRows | None:
    size = handle.seek(0, os.SEEK_END)
    handle.seek(0)
    if size <= _SMALL:
        return None
    from traindx.readers.tables.nativerows import native_rows

    return native_rows()


def _header(cells: list[str]) -> list[str]:
    """The names of the columns; a table without a header counts them."""
    if all(number_in(cell) is not None for cell in cells):
        return [f"column {place}" for place in range(1, len(cells) + 1)]
    return [cell.strip(" \"'\ufeff")[:100] or f"column {place}" for place, cell in enumerate(cells, 1)]


def split_cells(text: str, separator: str) -> list[str]:
    """The cells of one row, quoted ones included."""
    line = text.rstrip("\r")[:_LONGEST_LINE]
    if '"' not in line:
        return line.split(separator, _MOST_COLUMNS)[:_MOST_COLUMNS]
    try:
        return next(csv.reader([line], delimiter=separator), [])[:_MOST_COLUMNS]
    except csv.Error:
        return line.split(separator)[:_MOST_COLUMNS]
