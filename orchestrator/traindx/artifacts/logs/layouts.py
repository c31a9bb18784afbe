"""The layouts that a log has shown so far, by the length of their lines."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.artifacts.logs.block import Block
from traindx.artifacts.logs.digits import Floats, Places, Truths
from traindx.artifacts.logs.layout import Layout, Rows, lay_out
from traindx.artifacts.logs.skeleton import learn

if TYPE_CHECKING:
    from traindx.artifacts.logs.textlog import LogReader, Plan

_ENOUGH = 24
"""lines of one length in a block that make their layout worth knowing"""
_MOST_AT_ONCE = 24
_MOST_OF_LENGTH = 6
_MOST = 1_000
_LONGEST = 1_000
_TRIAL = 4
"""blocks after which layouts have to have read half of the lines, or are given up"""


@dataclass(frozen=True)
class Part:
    """Lines of one plan, with the numbers that the plan asks for, by their place in the line."""

    plan: Plan
    units: Places
    numbers: dict[int, Floats]
    texts: dict[int, bytes]


class Layouts:
    """Reads what has a known layout; learns new ones from what has not."""

    def __init__(self) -> None:
        self._known: dict[int, list[Layout]] = defaultdict(list)
        self._count = self._blocks = 0
        self._offered = self._read = 0
        self._worth_it = True

    def read(self, block: Block) -> tuple[list[Part], Truths]:
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
                    read = units[rows.good]
                    left[read] = False
                    if layout.plan is not None:
                        parts.append(_part(layout.plan, rows, read))
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
            layout = lay_out(raw, runs, learn(raw, runs, found[1] if found else None), plan)
            if layout is not None:
                known.append(layout)
                self._count += 1


def _part(plan: Plan, rows: Rows, units: Places) -> Part:
    numbers = {place: rows.values(place) for place in rows.layout.numbers}
    texts = {place: rows.texts(place) for place, column in plan.columns if column.keeps_texts(len(units))}
    return Part(plan, units, numbers, texts)
