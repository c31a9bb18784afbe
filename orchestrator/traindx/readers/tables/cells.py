"""Rows of a separated table, thousands at a time: every byte that is no digit is found once, and cells follow.

A cell is digits with at most a sign, a point and an exponent between them; whatever else it is, it is looked at
alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from traindx.readers.logs.bulk.digits import WIDEST, Bytes, Floats, Places, Text, Truths, decimals

_POINT, _PLUS, _MINUS, _FEED = (ord(letter) for letter in ".+-\n")
_E = (ord("e"), ord("E"))
Reading = Callable[[str], float | None]


@dataclass(frozen=True)
class Cells:
    """One column of a stretch of rows: its values, and in which rows there is one."""

    values: Floats
    present: Truths
    starts: Places
    ends: Places


class Rows:
    """Whole rows of a table, without quotes, ending in a line feed."""

    def __init__(self, data: bytes, separator: str, width: int) -> None:
        self.text = Text(data)
        raw = self.text.bytes
        self._marks: Places = np.flatnonzero((raw - np.uint8(48)) > 9)
        self._kinds: Bytes = raw.take(self._marks)
        breaks = self._kinds == _FEED
        stops = np.flatnonzero(breaks | (self._kinds == ord(separator)))
        rows_at = np.flatnonzero(breaks[stops])
        cells = np.diff(rows_at, prepend=-1)
        self.regular: Truths = cells == width
        """which rows have as many cells as the header"""
        self.begins: Places = np.concatenate([[0], self._marks[stops[rows_at]][:-1] + 1])
        self.ends: Places = self._marks[stops[rows_at]]
        kept = np.repeat(self.regular, cells)
        before = np.concatenate([[-1], stops[:-1]])
        if not bool(kept.all()):
            stops, before = stops[kept], before[kept]
        self._stops: Places = stops.reshape(-1, width).T.copy()
        self._before: Places = before.reshape(-1, width).T.copy()

    def cells(self, column: int, read: Reading) -> Cells:
        """A column of the regular rows; `read` looks at single cells."""
        stops, before = self._stops[column], self._before[column]
        starts, ends = self.span(column)
        inner = stops - before - 1
        found, sure = self._numbers(starts, ends, stops, inner)
        present = sure.copy()
        odd = np.flatnonzero(~sure & (ends > starts))
        if len(odd):
            texts = self.spelled(starts[odd], ends[odd]).decode(errors="replace").split("\n")[:-1]
            values = [read(text.strip()) for text in texts]
            present[odd] = [value is not None for value in values]
            found[odd] = [math.nan if value is None else value for value in values]
        return Cells(found, present, starts, ends)

    def span(self, column: int) -> tuple[Places, Places]:
        """Where the cells of a column begin and end, in the regular rows."""
        before = self._before[column]
        starts: Places = self._marks.take(before, mode="clip") + 1
        starts[before < 0] = 0
        return starts, self._marks.take(self._stops[column])

    def spelled(self, starts: Places, ends: Places) -> bytes:
        """The cells between these places, without blanks around them, each with a line feed."""
        found = self.text.spelled(starts, ends)
        if b" " not in found:
            return found
        return b"".join(cell.strip() + b"\n" for cell in found.split(b"\n")[:-1])

    def _numbers(self, starts: Places, ends: Places, stops: Places, inner: Places) -> tuple[Floats, Truths]:
        """The values of cells that are plain decimals, and which those are."""
        begin, left = starts, inner
        negative = None
        if not int(inner.max(initial=0)):
            widths = ends - starts
            usual = (widths > 0) & (widths <= WIDEST)
            whole = self.text.digits(ends, np.where(usual, widths, 0))
            found, exact = decimals(whole, None, np.zeros_like(widths))
            return found, exact & usual
        signs = self._is(stops - inner, (_MINUS, _PLUS)) & (inner > 0)
        if bool(signs.any()):
            signs &= self._marks.take(stops - inner, mode="clip") == starts
            negative = signs & self._is(stops - inner, (_MINUS,))
            begin, left = starts + signs, inner - signs
        end, powers = ends, None
        exponents = (left > 1) | ((left == 1) & ~self._is(stops - 1, (_POINT,)))
        usual = np.ones(len(starts), dtype=np.bool_)
        if bool(exponents.any()):
            end, powers, left, usual = self._exponents(ends, stops, left)
        point = end
        pointed = left == 1
        if bool(pointed.any()):
            # The point is the last mark of the mantissa: before the exponent's, where there is one.
            place = stops - 1 - (inner - left - (begin > starts))
            pointed &= self._is(place, (_POINT,))
            point = np.where(pointed, self._marks.take(place, mode="clip"), end)
        places = np.maximum(end - point - 1, 0)
        wholes = point - begin
        usual &= ((left == 0) | pointed) & (wholes + places > 0) & (wholes <= WIDEST) & (places <= WIDEST)
        usual &= (wholes >= 0) & (end > begin)
        if not bool(usual.all()):
            wholes, places = np.where(usual, wholes, 0), np.where(usual, places, 0)
        whole = self.text.digits(point, wholes)
        part = self.text.digits(end, places) if bool(places.any()) else None
        found, exact = decimals(whole, part, places, powers)
        if negative is not None:
            np.negative(found, out=found, where=negative)
        return found, exact & usual

    def _exponents(self, ends: Places, stops: Places, left: Places) -> tuple[Places, Places, Places, Truths]:
        """Where the mantissas end, the powers of ten, how many marks the mantissas have, and which make sense."""
        signed = self._is(stops - 1, (_MINUS, _PLUS)) & self._is(stops - 2, _E) & (left > 1)
        marked = np.where(signed, stops - 2, stops - 1)
        raised = signed | (self._is(stops - 1, _E) & (left > 0))
        at = np.where(raised, self._marks.take(marked, mode="clip"), ends)
        widths = np.where(raised, ends - at - 1 - signed, 0)
        usual = ~raised | ((widths > 0) & (widths < 5))
        usual &= ~signed | (self._marks.take(stops - 1, mode="clip") == at + 1)
        powers = self.text.digits(ends, np.clip(widths, 0, 4)).view(np.int64)
        powers = np.where(signed & self._is(stops - 1, (_MINUS,)), -powers, powers)
        return at, powers, left - raised - signed, usual

    def _is(self, marks: Places, letters: tuple[int, ...]) -> Truths:
        kinds = self._kinds.take(marks, mode="clip")
        found: Truths = kinds == letters[0]
        for letter in letters[1:]:
            found |= kinds == letter
        return found
