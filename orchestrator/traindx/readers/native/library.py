"""The compiled readers (`numbers.c`, `measure.c`, `lines.c`), loaded where the package was built with a compiler."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

HEAD = 16 << 10
"""bytes from which the length of a row is guessed"""
FILE = Path(__file__).with_name("libnumbers.so")
_POWERS = range(-290, 271)
"""the powers of ten that `numbers.c` scales by"""


@cache
def library(file: Path = FILE) -> Library | None:
    """The compiled code; None where there is none."""
    try:
        return Library(ctypes.CDLL(str(file)))
    except (OSError, AttributeError):  # an older build lacks a function
        return None


class Library:
    """The functions of the C files, with numpy's arrays for its pointers."""

    def __init__(self, code: ctypes.CDLL) -> None:
        count, place, text = ctypes.c_int64, ctypes.c_void_p, ctypes.c_char_p
        self._lines, self._numbers, self._rows = code.traindx_lines, code.traindx_numbers, code.traindx_rows
        for function in (self._lines, self._numbers, self._rows):
            function.restype = count
        self._lines.argtypes = [text, count]
        self._numbers.argtypes = [place, count, place, place, count, place, place, place]
        self._rows.argtypes = [text, count, ctypes.c_uint8, *[count] * 2, *[place] * 6, count, *[place] * 2]
        self._measure = code.traindx_measure
        self._measure.restype, self._measure.argtypes = None, [place, count, ctypes.c_int32, place]
        self._new_forms, self._know_forms = code.traindx_new_forms, code.traindx_know_forms
        for function in (self._new_forms, self._know_forms):
            function.restype = count
        self._new_forms.argtypes = [text, count, place, count, ctypes.c_uint64, *[place] * 4]
        self._know_forms.argtypes = [place, count, place, count]
        self._line_like = code.traindx_line_like
        self._line_like.restype, self._line_like.argtypes = count, [place, count, place, count]
        self._powers = np.array([_leading_bits(power) for power in _POWERS], dtype=np.uint64)

    def numbers(self, data: npt.NDArray[np.uint8], starts: Places, ends: Places) -> tuple[Floats, Places]:
        """The values between these places, and which of them `float` must read. The last byte belongs to no number."""
        starts, ends = np.ascontiguousarray(starts), np.ascontiguousarray(ends)
        values = np.empty(len(starts))
        hard = np.empty(len(starts), dtype=np.int64)
        many = self._numbers(
            *(data.ctypes.data, len(data), starts.ctypes.data, ends.ctypes.data, len(starts)),
            *(self._powers.ctypes.data, values.ctypes.data, hard.ctypes.data),
        )
        return values, hard[:many]

    def lines(self, data: bytes) -> int:
        """How many line feeds there are."""
        found: int = self._lines(data, len(data))
        return found

    def new_forms(self, data: bytes, lines: int, table: Words, seed: int) -> tuple[Places, Places, Places, Words]:
        """Numbers (from 0), begins, ends and hashes of the lines, at most so many, whose form is not in a table."""
        places = np.empty((3, lines), dtype=np.int64)
        hashes = np.empty(lines, dtype=np.uint64)
        many = self._new_forms(
            *(data, len(data), table.ctypes.data, len(table) - 1, seed),
            *(row.ctypes.data for row in places),
            hashes.ctypes.data,
        )
        return places[0, :many], places[1, :many], places[2, :many], hashes[:many]

    def line_like(self, data: npt.NDArray[np.uint8], allowed: npt.NDArray[np.bool_]) -> int:
        """Where the first line after the first begins whose first bytes are allowed, a row of flags for each; or -1."""
        found: int = self._line_like(data.ctypes.data, len(data), allowed.ctypes.data, len(allowed))
        return found

    def know_forms(self, table: Words, hashes: Words) -> int:
        """Put hashes into a table, which has to have room for them; how many are new."""
        hashes = np.ascontiguousarray(hashes)
        found: int = self._know_forms(table.ctypes.data, len(table) - 1, hashes.ctypes.data, len(hashes))
        return found

    def measure(self, data: npt.NDArray[np.uint8], count: int, kind: int, told: Floats) -> None:
        """Add what so many stored numbers tell: NaN, Inf, -Inf, zeros, lowest, highest, squares."""
        self._measure(data.ctypes.data, count, kind, told.ctypes.data)

    def rows(
        self, data: bytes, separator: str, width: int, spelt: bool, most_hard: int
    ) -> tuple[Floats, npt.NDArray[np.bool_], npt.NDArray[np.int32]] | None:
        """Values, whether there is one, and (if `spelt`) begins and ends of the cells, column by column.

        None when the data are not whole rows of plain numbers, each with its line end.
        """
        head = data[:HEAD]
        # About as many rows as the first ones let expect; counted where that was too few.
        most = int(1.05 * len(data) / max(1, len(head)) * (head.count(b"\n") + 1)) + 16
        found = self._rows_up_to(data, separator, width, spelt, most_hard, most)
        if found is not None and found[3] < len(data):
            found = self._rows_up_to(data, separator, width, spelt, most_hard, self._lines(data, len(data)))
        return None if found is None or found[3] < len(data) else found[:3]

    def _rows_up_to(
        self, data: bytes, separator: str, width: int, spelt: bool, most_hard: int, most: int
    ) -> tuple[Floats, npt.NDArray[np.bool_], npt.NDArray[np.int32], int] | None:
        """At most so many rows, and how many bytes they took; None when they are not plain."""
        values = np.empty((width, most))
        present = np.empty((width, most), dtype=np.bool_)
        spans = np.empty((2, width, most) if spelt else (2, 0, 0), dtype=np.int32)
        starts, ends = (span.ctypes.data if spelt else None for span in spans)
        hard = np.empty((most_hard, 3), dtype=np.int64)
        told = np.zeros(2, dtype=np.int64)
        rows = self._rows(
            *(data, len(data), ord(separator), width, most, self._powers.ctypes.data),
            *(values.ctypes.data, present.ctypes.data, starts, ends),
            *(hard.ctypes.data, most_hard, told[:1].ctypes.data, told[1:].ctypes.data),
        )
        if rows < 0:
            return None
        for place, begin, end in hard[: told[0]].tolist():
            values.ravel()[place] = float(data[begin:end])
        return values[:, :rows], present[:, :rows], spans[:, :, :rows], int(told[1])


def _leading_bits(power: int) -> tuple[int, int]:
    """The first 128 bits of a power of ten, cut off below, in two words."""
    scaled = 10**power if power >= 0 else (1 << 1200) // 10**-power
    excess = scaled.bit_length() - 128
    bits = scaled >> excess if excess >= 0 else scaled << -excess
    return bits >> 64, bits & ((1 << 64) - 1)
