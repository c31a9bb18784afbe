"""Tables of samples (not of metrics): columns with their ranges, missing values and labels, from a bounded sample."""

from __future__ import annotations

import csv
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import BinaryIO

from traindx.readers.logs.lines import numbered

LARGEST = 32 << 20
"""bytes that are read"""
MOST_ROWS = 50_000
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
        self.values: Counter[str] | None = Counter()

    def take(self, cell: str, line: int) -> None:
        """Take in a cell."""
        number = _number(cell)
        if cell.strip().lower() in _MISSING or (number is not None and not math.isfinite(number)):
            self.missing += 1
            self.first_missing = self.first_missing or line
            return
        if self.values is not None:
            self.values[cell.strip()[:60]] += 1
            self.values = self.values if len(self.values) <= _MOST_VALUES else None
        if number is None:
            self.texts += 1
            return
        self.numbers += 1
        self.low, self.high = min(self.low, number), max(self.high, number)
        step = number - self.mean
        self.mean += step / self.numbers
        self.squares += step * (number - self.mean)

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
        )


def read_data_table(handle: BinaryIO, path: str) -> tuple[TableInfo | None, list[str]]:
    """The columns of a separated table of samples, and what is to be said about it."""
    columns: list[_Column] = []
    separator, rows, ragged, whole = "", 0, 0, True
    for line, text in numbered(handle, LARGEST):
        if len(text) > _LONGEST_LINE:
            return None, [
                f"`{path}`: line {line} has {text.count(separator or ','):,} cells or more: too wide to be read"
            ]
        if rows >= MOST_ROWS:
            whole = False
            break
        if not text.strip() or (not columns and text.startswith("#")):
            continue
        separator = separator or max(_SEPARATORS, key=text[:4_000].count)
        cells = _cells(text, separator)
        if not columns:
            columns = [_Column(name) for name in _header(cells)]
            if all(_number(cell) is not None for cell in cells):
                rows += _row(columns, cells, line)
            continue
        ragged += len(cells) != len(columns) and len(cells) <= _MOST_COLUMNS
        rows += _row(columns, cells, line)
    if not rows:
        return None, [f"`{path}`: not a table of samples: it has no rows"]
    size = handle.seek(0, 2)
    whole = whole and size <= LARGEST
    remarks = [] if whole else [f"`{path}`: the first {rows:,} rows were read"]
    if ragged:
        remarks.append(f"`{path}`: {ragged:,} rows have more or fewer cells than the first")
    return TableInfo(path, tuple(column.info() for column in columns), rows, whole, ragged), remarks


def _row(columns: list[_Column], cells: list[str], line: int) -> int:
    for column, cell in zip(columns, cells, strict=False):
        column.take(cell, line)
    return 1


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
