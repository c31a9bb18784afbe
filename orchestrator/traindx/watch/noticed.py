"""What a piece of text shows at first sight that may matter: an error never seen, a number that is none, a loss astray.

Nothing is concluded here. What is noticed says when an investigation is worth its time, and which lines it needs.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from traindx.readers.faults import Remarks
from traindx.readers.folder.recognise import Content, recognise
from traindx.readers.logs.errors import read_errors
from traindx.readers.logs.textlog import Manner, read_piece
from traindx.readers.model import Series
from traindx.readers.tables.csvtable import read_csv
from traindx.readers.tables.table import read_jsonl

if TYPE_CHECKING:
    from traindx.readers.model import Numbers

MOST_EXTREMES = 2_000
MOST_ERRORS = 500
"""different errors that are remembered, and their lines kept"""
AROUND = (40, 60)
"""lines before and after an error that may belong to it: a traceback, a message of several lines"""
FEWEST_BEFORE = 5
"""pieces after which the usual course of a loss is known"""
FIRST_PIECES = 5
"""in which tables are looked for"""
_SETTLED = 256 << 10
"""bytes after which it is known how a log is written"""
_MEDIANS = 60
_DIGITS = re.compile(r"[\d.]+")
_HEAD = 16 << 10


@dataclass
class _Course:
    """Where the values of a loss stood, piece by piece."""

    medians: list[float] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)
    """how far the values of a piece lay around their middle"""
    astray: bool = False

    def take(self, values: Numbers) -> None:
        """Whether the latest values lie above all that is usual; what is astray does not become usual by lasting."""
        finite = values[np.isfinite(values)]
        if not len(finite):
            return
        middle = float(np.median(finite))
        if len(self.medians) >= FEWEST_BEFORE:
            # A loss that grows within a piece makes the piece itself wide: what is usual was so before.
            spread = float(np.median(np.abs(np.diff(self.medians)))) + float(np.median(self.widths))
            self.astray = middle > max(self.medians[-_MEDIANS // 2 :]) + 3 * spread
        if not self.astray:
            self.medians = [*self.medians, middle][-_MEDIANS:]
            self.widths = [*self.widths, float(np.median(np.abs(finite - middle)))][-_MEDIANS:]


class Noticed:
    """What was noticed in one text so far."""

    def __init__(self, path: str, head: bytes) -> None:
        self.points = 0
        """values of the longest series"""
        self.urgent = False
        """whether something was noticed that shows a fault by itself, until somebody has asked"""
        self._path, self._content, self._header = path, recognise(head[:_HEAD]), _header(head)
        self._remarks = Remarks()
        self._errors: set[str] = set()
        self._courses: dict[str, _Course] = {}
        self._finite: dict[str, bool] = {}
        self._counts: dict[str, int] = {}
        self._extremes: dict[tuple[str, int, bool], tuple[float, int]] = {}
        self._pieces, self._width = 0, 1
        self._tabled = False
        self._manner = Manner(labelled=False, commas=False)
        self._taken = 0

    @property
    def astray(self) -> bool:
        """Whether a loss stands outside its usual course at the moment."""
        return any(course.astray for course in self._courses.values())

    def asked(self) -> bool:
        """Whether something urgent came since this was asked last."""
        urgent, self.urgent = self.urgent, False
        return urgent

    def take(self, first: int, data: bytes) -> tuple[set[int], set[int]]:
        """The lines of a piece that must stay, and earlier ones that need not stay any longer."""
        self._pieces += 1
        stays: set[int] = set()
        for row in self._remarks.guarded(self._path, lambda: read_errors(io.BytesIO(data), self._path)):
            at = first + row.line - 1
            text = _DIGITS.sub("0", row.text)
            if row.kind == "error" and text not in self._errors and len(self._errors) < MOST_ERRORS:
                self._errors.add(text)
                self.urgent = self.urgent or not row.ignored
                stays.update(range(at - AROUND[0], at + AROUND[1]))
        for series in self._series(data):
            stays |= self._follow(series, first)
        return stays, self._merged()

    def _series(self, data: bytes) -> Sequence[Series]:
        """The series of a piece by the reader of its file; their lines count from the piece's own first."""
        read = self._remarks.guarded
        if self._content == "jsonl":
            return read(self._path, lambda: read_jsonl(io.BytesIO(data), self._path, self._remarks))
        if self._content == "csv" and not data.startswith(self._header):
            ahead = self._header.count(b"\n")
            rows = read(self._path, lambda: read_csv(io.BytesIO(self._header + data), self._path, self._remarks))
            return [_moved(row, -ahead) for row in rows]
        if self._content == "csv":
            return read(self._path, lambda: read_csv(io.BytesIO(data), self._path, self._remarks))
        return read(self._path, lambda: self._logged(data))

    def _logged(self, data: bytes) -> list[Series]:
        """The series of a piece of a log; tables are looked for in its first pieces, and on where there are some."""
        if self._taken < _SETTLED:
            told = Manner.of(data)
            self._manner = Manner(self._manner.labelled or told.labelled, self._manner.commas or told.commas)
        self._taken += len(data)
        manner = replace(self._manner, tables=self._tabled or self._pieces <= FIRST_PIECES)
        found, tabled = read_piece(io.BytesIO(data), self._path, manner)
        self._tabled = self._tabled or tabled
        return found

    def _follow(self, row: Series, first: int) -> set[int]:
        """Take in the values of a series; the lines at which they cease to be numbers."""
        key, values = f"{row.name} {row.original}", row.values
        if not len(values):
            return set()
        self._counts[key] = self._counts.get(key, 0) + len(values)
        self.points = max(self.points, self._counts[key])
        finite = np.isfinite(values)
        change = np.flatnonzero(finite != np.concatenate(([self._finite.get(key, True)], finite[:-1])))[:4]
        self._finite[key] = bool(finite[-1])
        self.urgent = self.urgent or bool((~finite[change]).any())
        if "loss" in row.name:
            self._courses.setdefault(key, _Course()).take(values)
        if finite.any():
            for highest in (False, True):
                at = int(np.nanargmax(np.where(finite, values if highest else -values, -np.inf)))
                self._extreme(key, highest, float(values[at]), first + int(row.lines[at]) - 1)
        around = {first + int(row.lines[at]) - 1 for place in change for at in (place - 1, place) if at >= 0}
        return around | {number for _, number in self._of_piece(key)}

    def _of_piece(self, key: str) -> Iterable[tuple[float, int]]:
        bucket = self._pieces // self._width
        return [self._extremes[name] for highest in (False, True) if (name := (key, bucket, highest)) in self._extremes]

    def _extreme(self, key: str, highest: bool, value: float, line: int) -> None:
        name = (key, self._pieces // self._width, highest)
        known = self._extremes.get(name)
        if known is None or (value > known[0] if highest else value < known[0]):
            self._extremes[name] = (value, line)

    def _merged(self) -> set[int]:
        """Where there are too many extremes, those of two stretches become those of one; the lines that this frees."""
        if len(self._extremes) <= MOST_EXTREMES:
            return set()
        before = {line for _, line in self._extremes.values()}
        rows, self._extremes, self._width = self._extremes, {}, self._width * 2
        for (key, bucket, highest), (value, line) in rows.items():
            name = (key, bucket // 2, highest)
            known = self._extremes.get(name)
            if known is None or (value > known[0] if highest else value < known[0]):
                self._extremes[name] = (value, line)
        return before - {line for _, line in self._extremes.values()}


def _header(head: bytes) -> bytes:
    """The line that names the columns, and a comment before it."""
    lines = head.splitlines(keepends=True)
    return b"".join(lines[: 2 if head.startswith(b"#") else 1])


def _moved(row: Series, by: int) -> Series:
    inside = row.lines + by >= 1
    lines = row.lines + by
    return replace(row, lines=lines) if inside.all() else replace(row, lines=lines[inside], values=row.values[inside])


def is_text(content: Content) -> bool:
    """Whether a file with this content grows by lines; a log may look like anything in its first ones."""
    return content in {"jsonl", "csv", "text", "yaml", "ini", "python", "shell"}
