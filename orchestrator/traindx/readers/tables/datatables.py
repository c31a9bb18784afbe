"""Tables of samples (not of metrics): columns with their ranges, missing values and labels."""

from __future__ import annotations

import csv
import math
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

from traindx.readers.coverage import Allowance
from traindx.readers.logs.lines import RawBlocks

if TYPE_CHECKING:
    from traindx.readers.logs.bulk.digits import Floats, Places, Truths
    from traindx.readers.tables.cells import Cells
    from traindx.readers.tables.nativerows import NativeRows

_BLOCK = 2 << 20
_SMALL = 16 << 10
"""bytes that are read row by row: less than numpy takes to get going"""
_MOST_COLUMNS = 500
_MOST_VALUES = 50
_LONGEST_LINE = 100_000
_SEPARATORS = "\t;,|"
_MISSING = {"", "na", "n/a", "nan", "null", "none", "-", "?"}


@dataclass(frozen=True)
class ColumnInfo:
    """One column: its range where it is numeric, and where values are missing."""

    name: str
    numbers: int
    texts: int
    missing: int
    first_missing: int | None
    """line of the first missing or non-finite value"""
    low: float | None
    high: float | None
    mean: float | None
    deviation: float | None
    values: dict[str, int] = field(default_factory=dict)
    """how often each value occurs, where there are few: classes, labels, splits"""
    low_line: int | None = None
    high_line: int | None = None
    """lines of the first lowest and the first highest value"""

    @property
    def constant(self) -> bool:
        """Whether every row says the same."""
        return len(self.values) == 1 and not self.missing and self.numbers + self.texts > 1


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


class _Column:
    """A column while it is read; mean and spread are kept as Welford does, without the values."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.numbers = self.texts = self.missing = 0
        self.first_missing: int | None = None
        self.low, self.high, self.mean, self.squares = math.inf, -math.inf, 0.0, 0.0
        self.low_line: int | None = None
        self.high_line: int | None = None
        self.values: Counter[str] | None = Counter()

    def take(self, cell: str, line: int) -> None:
        """Take in a cell."""
        number = _number(cell)
        if _is_missing(cell.strip(), number):
            self._miss(1, line)
            return
        self._count_values([cell.strip()])
        if number is None:
            self.texts += 1
            return
        self._spread(1, number, 0.0)
        self._extremes(number, line, number, line)

    def take_many(
        self, values: Floats, present: Truths | None, lines: Places, spell: Callable[[Places], bytes]
    ) -> None:
        """Take in the cells of a stretch of rows: the numbers, which of the cells hold one, and how to spell some."""
        import numpy as np

        told = np.isfinite(values) if present is None else present & np.isfinite(values)
        if not bool(told.all()):
            self._no_numbers(lines[~told], _words(spell(np.flatnonzero(~told))))
            lines, values = lines[told], values[told]
        if self.values is not None and len(values):
            self._count_values(_words(spell(np.flatnonzero(told))))
        if not len(values):
            return
        low, high = int(values.argmin()), int(values.argmax())
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float(values.mean())
            self._spread(len(values), mean, float(np.square(values - mean).sum()))
        self._extremes(float(values[low]), int(lines[low]), float(values[high]), int(lines[high]))

    def _no_numbers(self, lines: Places, words: list[str]) -> None:
        kinds = {word: _is_missing(word, _number(word)) for word in set(words)}
        absent = [line for line, word in zip(lines.tolist(), words, strict=True) if kinds[word]]
        if absent:
            self._miss(len(absent), absent[0])
        self.texts += len(words) - len(absent)
        self._count_values([word for word in words if not kinds[word]])

    def _miss(self, count: int, line: int) -> None:
        self.missing += count
        self.first_missing = min(line, self.first_missing or line)

    def _count_values(self, words: list[str]) -> None:
        if self.values is not None:
            self.values.update(word[:60] for word in words)
            self.values = self.values if len(self.values) <= _MOST_VALUES else None

    def _spread(self, count: int, mean: float, squares: float) -> None:
        """Put the mean and the squared differences of further numbers to those so far (Chan et al.)."""
        together = self.numbers + count
        step = mean - self.mean
        self.squares += squares + step * step * self.numbers * count / together
        self.mean += step * count / together
        self.numbers = together

    def _extremes(self, low: float, low_line: int, high: float, high_line: int) -> None:
        if low < self.low or (low == self.low and low_line < (self.low_line or 0)):
            self.low, self.low_line = low, low_line
        if high > self.high or (high == self.high and high_line < (self.high_line or 0)):
            self.high, self.high_line = high, high_line

    def info(self) -> ColumnInfo:
        """The column as it stands."""
        known = self.numbers > 0
        return ColumnInfo(
            name=self.name,
            numbers=self.numbers,
            texts=self.texts,
            missing=self.missing,
            first_missing=self.first_missing,
            low=self.low if known else None,
            high=self.high if known else None,
            mean=self.mean if known else None,
            deviation=math.sqrt(max(0.0, self.squares) / self.numbers)
            if known and math.isfinite(self.squares)
            else None,
            values=dict(self.values or {}),
            low_line=self.low_line,
            high_line=self.high_line,
        )


class _Reader:
    """Reads one table of samples, block by block."""

    def __init__(self, native: NativeRows | None) -> None:
        self._native = native
        self.columns: list[_Column] = []
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
            cells = rows.cells(place, _number)

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
        cells = _cells(text, self.separator)
        if not self.columns:
            self.columns = [_Column(name) for name in _header(cells)]
            if not all(_number(cell) is not None for cell in cells):
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


def _words(spelled: bytes) -> list[str]:
    return [word.strip() for word in spelled.decode(errors="replace").split("\n")[:-1]]


def _is_missing(word: str, number: float | None) -> bool:
    return word.lower() in _MISSING or (number is not None and not math.isfinite(number))


def _header(cells: list[str]) -> list[str]:
    """The names of the columns; a table without a header counts them."""
    if all(_number(cell) is not None for cell in cells):
        return [f"column {place}" for place in range(1, len(cells) + 1)]
    return [cell.strip(" \"'\ufeff")[:100] or f"column {place}" for place, cell in enumerate(cells, 1)]


def _cells(text: str, separator: str) -> list[str]:
    line = text.rstrip("\r")[:_LONGEST_LINE]
    if '"' not in line:
        return line.split(separator, _MOST_COLUMNS)[:_MOST_COLUMNS]
    try:
        return next(csv.reader([line], delimiter=separator), [])[:_MOST_COLUMNS]
    except csv.Error:
        return line.split(separator)[:_MOST_COLUMNS]


def _number(cell: str) -> float | None:
    if len(cell) > 60:
        return None
    try:
        return float(cell)
    except ValueError:
        return None
