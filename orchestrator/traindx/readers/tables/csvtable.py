"""Metrics in separated tables: CSV, TSV and their relatives, with all that people do to them."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, BinaryIO

from traindx.readers.coverage import Allowance
from traindx.readers.logs.lines import RawBlocks
from traindx.readers.model import Series
from traindx.readers.series.columns import MOST_TEXTS, Columns
from traindx.readers.tables.record import Records, is_long_form, number
from traindx.vocabulary.metrics import normalise

if TYPE_CHECKING:
    from traindx.readers.logs.bulk.digits import Places
    from traindx.readers.tables.cells import Cells, Rows
    from traindx.readers.tables.nativerows import NativeRows, Piece

_DECIMAL_COMMA = re.compile(r"^([-+]?\d+),(\d+(?:[eE][-+]?\d+)?)$")
_SEPARATORS = "\t;,|"
_MOST_CELLS = 2_000
"""cells of a row: a wider table holds data, not metrics"""
_BLOCK = 2 << 20
_HEAD = 64 << 10
"""bytes in which a plain table shows its header"""
_SMALL = 16 << 10
"""bytes that are read row by row: less than numpy takes to get going"""
_MOST_HEADERS = 20
"""times that the columns may change within a block before it is read row by row"""
_MOST_BROKEN = 50
"""lines that one quoted cell may go on over"""


def read_csv(
    handle: BinaryIO,
    source: str,
    remark: Callable[[str], None] | None = None,
    compiled: bool = True,
    allowance: Allowance | None = None,
) -> list[Series]:
    """The numeric columns of a separated table with a header; a repeated header restarts the columns.

    Plain stretches are read by compiled code where the package has it, unless it may not be `compiled`.
    """
    size = _size(handle)
    allowance = allowance or Allowance()
    reader = _Reader(_native() if compiled and size > _SMALL else None, Columns(allowance.points))
    begin, first = reader.ahead(handle, size, allowance)
    handle.seek(begin)
    blocks = RawBlocks(handle, _BLOCK, first, allowance)
    for number_of_first, data in blocks:
        if number_of_first == 1 and len(data) > _SMALL:
            from traindx.readers.logs.bulk.digits import line_feeds

            blocks.count = line_feeds
            reader.records.expected = line_feeds(data) * size // len(data)
        reader.block(number_of_first, data)
    reader.finish()
    series = reader.records.columns.series(source)
    for text in [
        *reader.remarks(source, blocks.long_lines),
        *(f"`{source}`: {trouble}" for trouble in blocks.troubles),
    ]:
        if remark is not None:
            remark(text)
    return series


def _size(handle: BinaryIO) -> int:
    size = handle.seek(0, os.SEEK_END)
    handle.seek(0)
    return size


def _native() -> NativeRows | None:
    from traindx.readers.tables.nativerows import native_rows

    return native_rows()


class _Reader:
    """Reads one table, block by block."""

    def __init__(self, native: NativeRows | None = None, columns: Columns | None = None) -> None:
        self._native = native
        self.records = Records(columns)
        self.header: list[str] = []
        self.separator = ""
        self.wide = False
        self._open: tuple[int, list[str]] | None = None
        """a row whose quoted cell is not closed yet, and where it began"""

    def ahead(self, handle: BinaryIO, size: int, allowance: Allowance) -> tuple[int, int]:
        """Take in the plain rows at the head of a file, on several cores; where they end, and the line that follows."""
        head = handle.read(_HEAD) if self._native else b""
        if not self._native or not head.isascii() or b"\0" in head or b'"' in head or b"\x1b" in head:
            return 0, 1
        begin = 0
        first = 1
        while not self.header and (end := head.find(b"\n", begin) + 1):
            self._line(first, head[begin:end].decode().rstrip("\n"))
            begin, first = end, first + 1
        if not self._regular:
            return begin, first
        self.records.expected = head.count(b"\n") * size // len(head)
        for end, piece in self._native.ahead(handle, begin, self.separator, len(self.header), self._spelt):
            self._take(first, piece)
            begin, first = end, first + piece.rows
            if allowance.spent():
                break
        return begin, first

    @property
    def _regular(self) -> bool:
        """Whether columns are told apart by place: two of one name go to one series, row by row."""
        distinct = bool(self.header) and len(set(self.header)) == len(self.header)
        return distinct and not self.wide and not is_long_form(self.header)

    @property
    def _spelt(self) -> bool:
        return self.records.expected <= 2 * MOST_TEXTS

    def block(self, first: int, data: bytes) -> None:
        """Take in whole lines, the first of which has this number."""
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n")
        if len(data) <= _SMALL or b"\r" in data or b'"' in data or self._open:
            self._lines(first, data)
            return
        while not self.header and data:
            line, _, data = data.partition(b"\n")
            self._line(first, line.decode(errors="replace"))
            first += 1
        data += b"" if data.endswith(b"\n") else b"\n"
        for _ in range(_MOST_HEADERS):
            if not self._regular or len(data) <= _SMALL:
                break
            if self._plain(first, data):
                return
            done = self._bulk(first, data)
            first, data = first + done[0], data[done[1] :]
        self._lines(first, data)

    def remarks(self, source: str, long_lines: int) -> list[str]:
        """What was left out, in words."""
        found = self.records.columns.remarks(source)
        if self.wide or self.records.columns.overflow:
            found.append(f"`{source}` has more columns than are kept; the later ones were left out")
        if long_lines:
            found.append(f"{long_lines:,} lines of `{source}` are too long for a table and were left out")
        return found

    def _lines(self, first: int, data: bytes) -> None:
        lines = data.decode(errors="replace").split("\n")
        if not lines[-1]:
            lines.pop()
        for line_number, line in enumerate(lines, first):
            self._line(line_number, line)
        self.records.columns.bound()

    def _line(self, line_number: int, line: str) -> None:
        line = line.rstrip("\r")
        if self._open is not None:
            began, pieces = self._open
            pieces.append(line)
            if sum(piece.count('"') for piece in pieces) % 2 == 0 or len(pieces) > _MOST_BROKEN:
                self._open = None
                self._row(began, pieces)
        elif line.strip() and (self.header or not line.startswith("#")):
            if line.count('"') % 2:
                self._open = (line_number, [line])
            else:
                self._row(line_number, [line])

    def finish(self) -> None:
        """Take in a row that the end of the file cut off."""
        if self._open is not None:
            began, pieces = self._open
            self._row(began, pieces)

    def _row(self, line_number: int, lines: list[str]) -> None:
        self.separator = self.separator or max(_SEPARATORS, key=lines[0].count)
        try:
            broken = [lines[0], *(f"\n{line}" for line in lines[1:])]
            cells = [cell.strip() for cell in next(csv.reader(broken, delimiter=self.separator))]
        except (csv.Error, StopIteration):
            return
        self.wide |= len(cells) > _MOST_CELLS
        cells = cells[:_MOST_CELLS]
        if not self.header or _is_header(cells):
            self.header = cells
        else:
            shown = cells if self.separator == "," else [_DECIMAL_COMMA.sub(r"\1.\2", cell) for cell in cells]
            self.records.row((name, text, line_number) for name, text in zip(self.header, shown, strict=False) if name)

    def _plain(self, first: int, data: bytes) -> bool:
        """Take in a block in which there is nothing but numbers, if it is one."""
        if not self._native:
            return False
        piece = self._native.read(data, self.separator, len(self.header), self._spelt)
        if piece is None:
            return False
        self._take(first, piece)
        return True

    def _take(self, first: int, piece: Piece) -> None:
        import numpy as np

        self.records.rows(piece.named(self.header), np.arange(first, first + piece.rows))
        self.records.columns.bound()

    def _bulk(self, first: int, data: bytes) -> tuple[int, int]:
        """Rows by the thousand; between them, those that have not as many cells as the header, one by one.

        Returns how many rows and bytes were read: all, or as many as come before other columns begin.
        """
        from traindx.readers.tables.cells import Rows

        rows = Rows(data, self.separator, len(self.header))
        read = _Stretch(self.header, rows, self.records)
        for begin, end, before in _stretches(rows):
            row = begin
            while row < end:
                if rows.regular[row]:
                    row += read.give(before + row - begin, before + end - begin, first + row)
                    if row >= end:
                        break
                header = self.header
                self._line(first + row, data[rows.begins[row] : rows.ends[row]].decode(errors="replace"))
                row += 1
                if self.header != header:
                    return row, int(rows.ends[row - 1]) + 1
        self.records.columns.bound()
        return len(rows.regular), len(data)


def _stretches(rows: Rows) -> Iterator[tuple[int, int, int]]:
    """Rows that follow each other and are alike, with how many regular ones came before."""
    import numpy as np

    regular = rows.regular
    cuts = [0, *(np.flatnonzero(np.diff(regular)) + 1).tolist(), len(regular)]
    before = 0
    for begin, end in pairwise(cuts):
        yield begin, end, before
        if begin < end and regular[begin]:
            before += end - begin


class _Stretch:
    """The regular rows of a block, column by column, given to the records in stretches."""

    def __init__(self, header: list[str], rows: Rows, records: Records) -> None:
        self._rows, self._records = rows, records
        self._columns: list[tuple[int, str, Cells]] = [
            (place, name, rows.cells(place, _with_comma)) for place, name in enumerate(header) if name
        ]

    def give(self, begin: int, end: int, line: int) -> int:
        """Hand over regular rows `begin` to `end`, up to one that is a header; how many those were."""
        import numpy as np

        count = end - begin
        some = np.zeros(count, dtype=np.bool_)
        for _, _, cells in self._columns:
            some |= cells.present[begin:end]
        silent = np.flatnonzero(~some).tolist()
        stop = begin + next((row for row in silent if self._is_header(begin + row)), count)
        self._records.rows(
            [
                (name, cells.values[begin:stop], cells.present[begin:stop], _spelling(self._rows, cells, begin, stop))
                for _, name, cells in self._columns
            ],
            np.arange(line, line + stop - begin),
        )
        return stop - begin

    def _is_header(self, row: int) -> bool:
        found = [
            self._rows.spelled(cells.starts[row : row + 1], cells.ends[row : row + 1]).decode(errors="replace")
            for _, _, cells in self._columns
        ]
        return _is_header([text.strip() for text in found])


def _spelling(rows: Rows, cells: Cells, begin: int, stop: int) -> Callable[[Places], bytes]:
    starts, ends = cells.starts[begin:stop], cells.ends[begin:stop]
    return lambda chosen: rows.spelled(starts.take(chosen), ends.take(chosen))


def _with_comma(text: str) -> float | None:
    """A number, also with the comma that half of the world has for a point; where that separates, none is left."""
    return number(_DECIMAL_COMMA.sub(r"\1.\2", text))


def _is_header(cells: list[str]) -> bool:
    return all(number(cell) is None for cell in cells) and any(normalise(cell).kind != "other" for cell in cells)
