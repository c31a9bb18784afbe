"""Plain stretches of tables through compiled code, where the package was built with a compiler."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import numpy.typing as npt

from traindx.readers.logs.bulk.digits import Floats, Places, Text, Truths
from traindx.readers.native.library import Library, library

if TYPE_CHECKING:
    from traindx.readers.tables.record import ManyCells

_PIECE = 2 << 20
"""bytes that one core takes at a time"""
_WINDOW = 64 << 10
"""bytes in which the end of a row is looked for"""
_MOST_HARD = 1_000
"""cells of a piece that may be read one by one"""
_MOST_CORES = 4


def native_rows() -> NativeRows | None:
    """The compiled reader; None where there is none."""
    code = library()
    return NativeRows(code) if code else None


@dataclass(frozen=True)
class Piece:
    """Rows of plain numbers: a column each of values, with the rows that have one (None: all)."""

    rows: int
    columns: list[tuple[Floats, Truths | None, Callable[[Places], bytes]]]

    def named(self, header: list[str]) -> list[ManyCells]:
        """The columns that have a name."""
        return [(name, *column) for name, column in zip(header, self.columns, strict=True) if name]


class NativeRows:
    """Reads stretches in which every row is whole and every cell is a plain number or empty."""

    def __init__(self, code: Library) -> None:
        self._code = code

    def read(self, data: bytes, separator: str, width: int, spelt: bool) -> Piece | None:
        """A stretch of whole lines; None for one that is not so plain. Cells are spelt out only if they are `spelt`."""
        if not data.endswith(b"\n"):
            data += b"\n"
        found = self._code.rows(data, separator, width, spelt, _MOST_HARD)
        if found is None:
            return None
        values, present, spans = found
        return Piece(
            values.shape[1],
            [(values[n], _or_none(present[n]), _spelling(data, spans, n)) for n in range(width)],
        )

    def ahead(
        self, handle: BinaryIO, begin: int, separator: str, width: int, spelt: bool
    ) -> Iterator[tuple[int, Piece]]:
        """The pieces of a file from `begin` on, read on several cores: where each ends, and its rows.

        They cease before the first that is not plain.
        """
        try:
            number = handle.fileno()
        except (AttributeError, OSError):
            return
        cores = min(_MOST_CORES, os.cpu_count() or 1)
        pieces = _pieces(number, begin, os.fstat(number).st_size)

        def read(begin: int, end: int) -> Piece | None:
            data = os.pread(number, end - begin, begin)
            return self.read(data, separator, width, spelt) if len(data) == end - begin else None

        with ThreadPoolExecutor(cores) as pool:
            waiting: deque[tuple[int, Future[Piece | None]]] = deque()
            while True:
                for piece in islice(pieces, cores + 1 - len(waiting)):
                    waiting.append((piece[1], pool.submit(read, *piece)))
                if not waiting:
                    return
                end, future = waiting.popleft()
                found = future.result()
                if found is None:
                    return
                yield end, found


def _or_none(present: Truths) -> Truths | None:
    return None if bool(present.all()) else present


def _spelling(data: bytes, spans: npt.NDArray[np.int32], column: int) -> Callable[[Places], bytes]:
    def spelled(chosen: Places) -> bytes:
        starts, ends = (span[column].take(chosen).astype(np.int64) for span in spans)
        return Text(data).spelled(starts, ends)

    return spelled


def _pieces(number: int, begin: int, size: int) -> Iterator[tuple[int, int]]:
    """Where pieces of a file begin and end, so that each ends with a line; a line that is too long ends them all."""
    while begin < size:
        end = size
        if begin + _PIECE < size:
            place = os.pread(number, _WINDOW, begin + _PIECE).find(b"\n")
            if place < 0:
                return
            end = min(size, begin + _PIECE + place + 1)
        yield begin, end
        begin = end
