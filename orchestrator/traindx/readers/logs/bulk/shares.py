"""What the parts of a block have for each column, put together in the order of the lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.readers.logs.bulk.block import Block
from traindx.readers.logs.bulk.digits import Floats, Places, Truths
from traindx.readers.logs.bulk.parts import Part

if TYPE_CHECKING:
    from traindx.readers.logs.textlog import LogReader
    from traindx.readers.series.columns import Column


@dataclass(frozen=True)
class _Share:
    """Points for one column."""

    units: Places
    values: Floats
    texts: bytes
    epochs: Floats | None
    steps: Floats | None


def give(block: Block, parts: list[Part], reader: LogReader) -> None:
    """Hand the points of a block to their columns, in the order of their lines."""
    epochs = _Counter(len(block), reader.epoch)
    steps = _Counter(len(block), reader.step)
    for part in parts:
        form = part.plan.form
        if form.epoch >= 0:
            epochs.count(part.units, part.numbers[form.epoch])
        if form.step >= 0:
            steps.count(part.units, part.numbers[form.step])
    shares: dict[int, tuple[Column, list[_Share]]] = {}
    totals: dict[int, tuple[int, float]] = {}
    for part in parts:
        form = part.plan.form
        own_epochs = part.numbers[form.epoch] if form.epoch >= 0 else epochs.carried(part.units)
        own_steps = part.numbers[form.step] if form.step >= 0 else steps.carried(part.units)
        if form.step < 0 and own_steps is not None:
            # A line that counts nothing itself belongs to where the log is: to its epoch rather than its step.
            own_steps = np.where(epochs.known(part.units), np.nan, own_steps) if form.epoch < 0 else None
        for place, column in part.plan.columns:
            texts = part.texts.get(place, b"")
            share = _Share(part.units, part.numbers[place], texts, own_epochs, own_steps)
            shares.setdefault(id(column), (column, []))[1].append(share)
            if form.total >= 0:
                last = (int(part.units[-1]), float(part.numbers[form.total][-1]))
                totals[id(column)] = max(totals.get(id(column), (-1, 0.0)), last, key=lambda total: total[0])
        reader.records += len(part.units) if part.plan.columns else 0
    # Columns of one plan share theirs. The units are kept too: an array that is gone gives its id to the next one.
    numbers: dict[int, tuple[Places, Places]] = {}
    for key, (column, given) in shares.items():
        share = given[0] if len(given) == 1 else _merged(given)
        if id(share.units) not in numbers:
            numbers[id(share.units)] = (share.units, block.numbers.take(share.units))
        column.extend(share.values, share.texts, numbers[id(share.units)][1], share.epochs, share.steps)
        if key in totals:
            column.total = totals[key][1]
    reader.epoch, reader.step = epochs.last, steps.last


class _Counter:
    """An epoch or step counter through a block: what each line says, or else the last line that said something."""

    def __init__(self, units: int, before: float | None) -> None:
        self._said = np.full(units, -1, dtype=np.int64)
        self._values = np.full(units, np.nan)
        self._before = before
        self._filled = False

    def count(self, units: Places, counted: Floats) -> None:
        """Note what these units say."""
        self._said[units] = units
        self._values[units] = counted

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


def _merged(shares: list[_Share]) -> _Share:
    units = np.concatenate([share.units for share in shares])
    order = np.argsort(units, kind="stable")
    texts = [share.texts.split(b"\n")[:-1] for share in shares]
    spelled = [text for found in texts for text in found]
    whole = len(spelled) == len(units)
    return _Share(
        units[order],
        np.concatenate([share.values for share in shares])[order],
        b"\n".join([*map(spelled.__getitem__, order.tolist()), b""]) if whole else b"",
        _joined([share.epochs for share in shares], shares, order),
        _joined([share.steps for share in shares], shares, order),
    )


def _joined(counts: list[Floats | None], shares: list[_Share], order: Places) -> Floats | None:
    if all(count is None for count in counts):
        return None
    pieces = [
        np.full(len(share.units), np.nan) if count is None else count
        for count, share in zip(counts, shares, strict=True)
    ]
    joined: Floats = np.concatenate(pieces)[order]
    return joined
