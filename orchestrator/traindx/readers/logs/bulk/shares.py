"""What the parts of a block have for each column, put together in the order of the lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from traindx.readers.logs.bulk.block import Block
from traindx.readers.logs.bulk.digits import Floats, Places, Truths
from traindx.readers.logs.bulk.parts import Part
from traindx.readers.logs.bulk.waiting import Given, Points, Waiting

if TYPE_CHECKING:
    from traindx.readers.logs.textlog import LogReader

_MOST_WAITING = 1 << 18
"""lines that wait to be told apart by rank: some 30 MB"""


class Shares:
    """Hands the points of blocks to their columns, in the order of their lines."""

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        self._waiting = Waiting(reader)
        self._units = 0
        """units of the blocks so far"""
        self._fresh = 0
        """points that the columns got since they were last bounded"""

    def take(self, block: Block, parts: Sequence[Part]) -> None:
        """Take in a block that was read."""
        reader = self._reader
        epochs = _Counter(len(block), reader.epoch)
        steps = _Counter(len(block), reader.step)
        for part in parts:
            form = part.plan.form
            if form.epoch >= 0:
                epochs.count(part.units, part.numbers[form.epoch])
            if form.step >= 0:
                steps.count(part.units, part.numbers[form.step])
        given = Given()
        for part in parts:
            points = _points(part, block, self._units, epochs, steps)
            if part.ranks is not None:
                self._waiting.add(part, points)
            else:
                given.take(part.plan, part.numbers, part.texts, points)
                self._fresh += len(part.units) * len(part.plan.columns)
            reader.records += len(part.units) if part.plan.columns else 0
        if any(part.ranks is None and part.plan.rank >= 0 for part in parts):
            self._tell_apart(given)  # what waits may be for the same columns
        given.hand_over()
        self._units += len(block)
        reader.epoch, reader.step = epochs.last, steps.last

    def hand_over(self) -> None:
        """Tell apart what waits, and give it to its columns."""
        given = Given()
        self._tell_apart(given)
        given.hand_over()

    def _tell_apart(self, given: Given) -> None:
        self._fresh += self._waiting.points
        self._waiting.tell_apart(given)

    def bound(self) -> None:
        """Thin the columns where they have too many points, with those that wait."""
        columns, waiting = self._reader.columns, self._waiting
        if self._fresh + waiting.points > columns.room or waiting.lines > _MOST_WAITING:
            self.hand_over()
        if self._fresh or not waiting.lines:
            columns.bound()
            self._fresh = 0


def _points(part: Part, block: Block, ahead: int, epochs: _Counter, steps: _Counter) -> Points:
    """Where the points of a part stand."""
    form = part.plan.form
    own_epochs = part.numbers[form.epoch] if form.epoch >= 0 else epochs.carried(part.units)
    own_steps = part.numbers[form.step] if form.step >= 0 else steps.carried(part.units)
    if form.step < 0 and own_steps is not None:
        # A line that counts nothing itself belongs to where the log is: to its epoch rather than its step.
        own_steps = np.where(epochs.known(part.units), np.nan, own_steps) if form.epoch < 0 else None
    return Points(part.units + ahead, block.numbers.take(part.units), own_epochs, own_steps)


class _Counter:
    """An epoch or step counter through a block: what each line says, or else the last line that said something."""

    def __init__(self, units: int, before: float | None) -> None:
        self._said = np.full(units, -1, dtype=np.int64)
        self._values = np.full(units, np.nan)
        self._before = before
        self._counted = self._filled = False

    def count(self, units: Places, counted: Floats) -> None:
        """Note what these units say."""
        self._said[units] = units
        self._values[units] = counted
        self._counted = True

    def _sources(self, units: Places) -> Places:
        if not self._filled:
            self._said = np.maximum.accumulate(self._said)
            self._filled = True
        return self._said.take(units)

    def known(self, units: Places) -> Truths:
        """Whether anything was counted up to each unit."""
        found: Truths = self._sources(units) >= 0
        return np.ones_like(found) if self._before is not None else found

    def carried(self, units: Places) -> Floats | None:
        """The count at each unit; NaN where none is known, None where nowhere."""
        if self._before is None and not self._counted:
            return None
        sources = self._sources(units)
        if self._before is None and not bool((sources >= 0).any()):
            return None
        before = np.nan if self._before is None else self._before
        return np.where(sources >= 0, self._values.take(np.maximum(sources, 0)), before)

    @property
    def last(self) -> float | None:
        """The count at the end of the block."""
        said = int(self._said.max(initial=-1))
        return self._before if said < 0 else float(self._values[said])
