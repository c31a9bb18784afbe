"""Lines that agree in every column: the same text, and digits in the same places. Most of a log is such lines.

They are laid under each other as a matrix. One subtraction and one comparison tell whether every byte is the
letter it should be or a digit; the numbers are then read column by column.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.readers.logs.bulk.block import Block
from traindx.readers.logs.bulk.digits import (
    PAD,
    WIDEST,
    Bytes,
    Floats,
    Places,
    Text,
    Truths,
    Words,
    closed_up,
    eight,
    tens_power,
)
from traindx.readers.logs.bulk.parts import Part, by_rank, distinct
from traindx.readers.logs.bulk.skeleton import Number, Skeleton, learn

if TYPE_CHECKING:
    from traindx.readers.logs.textlog import LogReader, Plan

_LEAD = 8
"""bytes before the line that come along, so that a word may end in its first column"""
_MOST_DIGITS = 15
"""digits whose number a double holds exactly"""


@dataclass(frozen=True)
class Layout:
    """The columns of a line: what they hold, and the plan for its numbers."""

    plan: Plan | None
    numbers: dict[int, Number]
    """those that the plan asks for, by their place in the line"""
    runs: list[tuple[int, int]]
    width: int
    zero: Bytes
    """what to take from each column: its letter, or the digit nought"""
    most: Bytes
    """what may be left: nothing, or nine"""
    rank: int = -1
    """the run that says which rank speaks"""

    def rows(self, text: Text, begins: Places) -> Rows:
        """The lines that begin there, as far as they have this layout."""
        loads = text.loads(self.width)
        taken = loads[begins + (PAD - _LEAD)].view(np.uint8).reshape(-1, self.width)
        taken -= self.zero
        wrong = (taken > self.most).view(np.uint64)
        any_wrong = wrong[:, 0].copy()
        for column in range(1, wrong.shape[1]):
            any_wrong |= wrong[:, column]
        good: Truths = any_wrong == 0
        return Rows(self, taken if bool(good.all()) else taken[good], good)


@dataclass(frozen=True)
class Rows:
    """Lines of one layout: their digits, with nought wherever something else stands."""

    layout: Layout
    digits: Bytes
    good: Truths
    """which of the lines that were offered these are"""

    def __len__(self) -> int:
        return len(self.digits)

    def values(self, place: int) -> Floats:
        """One number of every line."""
        number = self.layout.numbers[place]
        if number.constant is not None:
            return np.full(len(self), number.constant)
        mantissa, places = self._mantissa(number)
        found: Floats = mantissa.view(np.int64).astype(np.float64)
        if number.power >= 0:
            powers = self._run(number.power).view(np.int64)
            powers = (-powers if number.power_negative else powers) - places
            found = tens_power(found, powers)
            far = np.flatnonzero(np.abs(powers) > WIDEST)
            if len(far):
                texts = self.texts(place).split(b"\n")
                found[far] = [abs(float(texts[line])) for line in far.tolist()]
        elif places:
            found /= 10.0**places
        return np.negative(found, out=found) if number.negative else found

    def _mantissa(self, number: Number) -> tuple[Words, int]:
        """The digits of a number as one integer, and how many of them stand behind the point."""
        if number.part < 0:
            return self._run(number.whole), 0
        begin, end = self.layout.runs[number.part]
        places = end - begin
        whole = 0
        if number.whole >= 0:
            begin, point = self.layout.runs[number.whole]
            whole = point - begin
        if whole > 0 and whole + 1 + places <= 8:
            return closed_up(self._words(end), whole, places), places
        return self._run(number.whole) * np.uint64(10**places) + self._run(number.part), places

    def ranks(self) -> Places | None:
        """The rank that speaks in each line; None where none is told."""
        return None if self.layout.rank < 0 else self._run(self.layout.rank).view(np.int64)

    def only(self, chosen: Truths) -> Rows:
        """Some of the lines."""
        good = self.good.copy()
        good[np.flatnonzero(good)[~chosen]] = False
        return Rows(self.layout, self.digits[chosen], good)

    def texts(self, place: int, chosen: Places | None = None) -> bytes:
        """The spelling of one number of some lines (None: of all), each with a line feed."""
        number = self.layout.numbers[place]
        digits = self.digits if chosen is None else self.digits[chosen]
        if number.constant is not None:
            return f"{number.text}\n".encode() * len(digits)
        runs = [run for run in (number.whole, number.part, number.power) if run >= 0]
        begin = self.layout.runs[runs[0]][0] - number.before + _LEAD
        end = self.layout.runs[runs[-1]][1] + number.after + _LEAD
        cells = np.empty((len(digits), end - begin + 1), dtype=np.uint8)
        np.add(digits[:, begin:end], self.layout.zero[begin:end], out=cells[:, :-1])
        cells[:, -1] = 10
        return cells.tobytes()

    def _run(self, run: int) -> Words:
        if run < 0:
            return np.zeros(len(self), dtype=np.uint64)
        begin, end = self.layout.runs[run]
        total = eight(self._words(end), min(8, end - begin))
        if end - begin > 8:
            total += eight(self._words(end - 8), end - begin - 8) * np.uint64(10**8)
        return total

    def _words(self, end: int) -> Words:
        """The eight columns before `end` of every line."""
        offset = end + _LEAD - 8
        return np.ndarray(
            (len(self),), dtype=np.uint64, buffer=self.digits.data, offset=offset, strides=(self.layout.width,)
        )


def lay_out(raw: bytes, runs: list[tuple[int, int]], skeleton: Skeleton, plan: Plan | None) -> Layout | None:
    """The layout of a line; None where its numbers are too long or too odd to be read by columns."""
    if skeleton.numbers is None:
        return None
    wanted: set[int] = set()
    if plan is not None:
        form = plan.form
        wanted = {place for place in (form.epoch, form.step, form.total) if place >= 0}
        wanted |= {field.index for field in form.fields}
    numbers = {place: skeleton.numbers[place] for place in wanted}
    for number in numbers.values():
        parts = [runs[run][1] - runs[run][0] for run in (number.whole, number.part) if run >= 0]
        if sum(parts) > _MOST_DIGITS or (number.power >= 0 and runs[number.power][1] - runs[number.power][0] > 2):
            return None
    width = -(-(_LEAD + len(raw)) // 8) * 8
    zero = np.zeros(width, dtype=np.uint8)
    most = np.full(width, 255, dtype=np.uint8)
    zero[_LEAD : _LEAD + len(raw)] = np.frombuffer(raw, dtype=np.uint8)
    most[_LEAD : _LEAD + len(raw)] = 0
    for place, (begin, end) in enumerate(runs):
        if place not in skeleton.literals:
            zero[_LEAD + begin : _LEAD + end] = 48
            most[_LEAD + begin : _LEAD + end] = 9
    return Layout(plan, numbers, runs, width, zero, most, skeleton.rank)


_ENOUGH = 24
"""lines of one length in a block that make their layout worth knowing"""
_MOST_AT_ONCE = 24
_MOST_OF_LENGTH = 6
_MOST = 1_000
_LONGEST = 1_000
_TRIAL = 4
"""blocks after which layouts have to have read half of the lines, or are given up"""


class Layouts:
    """Reads what has a known layout; learns new ones from what has not."""

    def __init__(self) -> None:
        self._known: dict[int, list[Layout]] = defaultdict(list)
        self._count = self._blocks = 0
        self._offered = self._read = 0
        self._worth_it = True

    def read(self, block: Block, reader: LogReader) -> tuple[list[Part], Truths]:
        """The lines whose layout is known, and which units are left."""
        left: Truths = np.ones(len(block), dtype=np.bool_)
        parts: list[Part] = []
        if not (self._count and self._worth_it):
            return parts, left
        lengths = block.ends - block.begins
        present = np.flatnonzero(np.bincount(np.minimum(lengths, _LONGEST)))
        for length in present.tolist():
            units = np.flatnonzero(lengths == length) if self._known.get(length) else np.zeros(0, dtype=np.int64)
            for layout in self._known.get(length, []):
                if not len(units):
                    break
                rows = layout.rows(block.text, block.begins.take(units))
                if len(rows):
                    rows, found = _parts(layout.plan, rows, units, reader)
                    parts += found
                    left[units[rows.good]] = False
                    units = units[~rows.good]
        self._blocks += 1
        self._offered += len(block)
        self._read += len(block) - int(left.sum())
        self._worth_it = self._blocks < _TRIAL or self._read * 2 > self._offered
        return parts, left

    def learn(self, block: Block, reader: LogReader) -> None:
        """Learn the layouts of lines that were read another way; the reader knows all their forms by now."""
        if not self._worth_it:
            return
        lengths = block.ends - block.begins
        counts = np.bincount(np.minimum(lengths, _LONGEST))[:_LONGEST]
        frequent = [length for length in np.argsort(-counts)[:_MOST_AT_ONCE].tolist() if counts[length] >= _ENOUGH]
        for length in frequent:
            known = self._known[length]
            if len(known) >= _MOST_OF_LENGTH or self._count >= _MOST:
                continue
            unit = int(np.flatnonzero(lengths == length)[-1])
            raw = block.raw(unit)
            found = reader.understood(raw.decode(errors="replace"))
            runs = block.runs(unit)
            plan = found[0] if found else None
            if plan is not None and plan.form.ratios:
                continue
            layout = lay_out(raw, runs, learn(raw, runs, found[1] if found else None, reader.labelled), plan)
            if layout is not None:
                known.append(layout)
                self._count += 1


def _parts(plan: Plan | None, rows: Rows, units: Places, reader: LogReader) -> tuple[Rows, list[Part]]:
    """The parts of rows, and those rows: what a rank says that was not met before is left for later."""
    if plan is None:
        return rows, []
    ranks = rows.ranks()
    if ranks is not None:
        there = distinct(ranks)
        known = [rank for rank in there if reader.has_met(rank, plan.shape)]
        if len(known) < len(there):
            met = np.isin(ranks, known)
            rows, ranks = rows.only(met), ranks[met]
    numbers = {place: rows.values(place) for place in rows.layout.numbers}
    return rows, by_rank(plan, ranks, units[rows.good], numbers, rows.texts, reader)
