"""Points on their way to the columns. Lines that many ranks wrote wait for those of further blocks: they are told
apart once for all of them, which takes as long as for one block.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from traindx.readers.logs.bulk.digits import Floats, Places
from traindx.readers.logs.bulk.parts import Part

if TYPE_CHECKING:
    from traindx.readers.logs.textlog import LogReader, Plan
    from traindx.readers.series.columns import Column


@dataclass(frozen=True)
class Points:
    """Where points stand: in which unit of the log, on which line, at which epoch and step."""

    units: Places
    lines: Places
    epochs: Floats | None
    steps: Floats | None

    def cut(self, begin: int, end: int) -> Points:
        """Some of them."""
        return Points(
            self.units[begin:end],
            self.lines[begin:end],
            None if self.epochs is None else self.epochs[begin:end],
            None if self.steps is None else self.steps[begin:end],
        )


@dataclass(frozen=True)
class _Share:
    """Points for one column."""

    points: Points
    values: Floats
    texts: bytes


class Given:
    """Points for columns, of any number of parts."""

    def __init__(self) -> None:
        self._shares: dict[int, tuple[Column, list[_Share]]] = {}
        self._totals: dict[int, tuple[int, float]] = {}

    def take(self, plan: Plan, numbers: dict[int, Floats], texts: dict[int, bytes], points: Points) -> None:
        """Take in lines of a plan, in their order."""
        total = plan.form.total
        for place, column in plan.columns:
            share = _Share(points, numbers[place], texts.get(place, b""))
            self._shares.setdefault(id(column), (column, []))[1].append(share)
            if total >= 0:
                last = (int(points.units[-1]), float(numbers[total][-1]))
                self._totals[id(column)] = max(self._totals.get(id(column), (-1, 0.0)), last, key=lambda told: told[0])

    def hand_over(self) -> None:
        """Give every column its points, in the order of their lines."""
        for key, (column, given) in self._shares.items():
            share = given[0] if len(given) == 1 else _merged(given)
            points = share.points
            column.extend(share.values, share.texts, points.lines, points.epochs, points.steps)
            if key in self._totals:
                column.total = self._totals[key][1]


class Waiting:
    """Lines of several ranks, of which no spelling is kept."""

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        self._held: dict[tuple[str, ...], list[tuple[Part, Points]]] = defaultdict(list)
        self.lines = self.points = 0

    def add(self, part: Part, points: Points) -> None:
        """Keep lines for later."""
        self._held[part.plan.shape].append((part, points))
        self.lines += len(part.units)
        self.points += len(part.units) * len(part.plan.form.fields)

    def tell_apart(self, given: Given) -> None:
        """Put what waits to what is given to the columns."""
        for held in self._held.values():
            self._of_each(held, given)
        self._held.clear()
        self.lines = self.points = 0

    def _of_each(self, held: list[tuple[Part, Points]], given: Given) -> None:
        plan = held[0][0].plan
        ranks = np.concatenate([part.ranks for part, _ in held if part.ranks is not None])
        points = [points for _, points in held]
        order = _by_rank_and_unit(ranks, np.concatenate([one.units for one in points]))
        places = {field.index for field in plan.form.fields} | ({plan.form.total} - {-1})
        numbers = {place: np.concatenate([part.numbers[place] for part, _ in held])[order] for place in places}
        whole = _joined(points, order)
        ranks = ranks[order]
        for begin, end in pairwise([0, *(np.flatnonzero(np.diff(ranks)) + 1).tolist(), len(ranks)]):
            own = self._reader.plan(int(ranks[begin]), plan.shape)
            if own is not None:
                of_rank = {place: found[begin:end] for place, found in numbers.items()}
                given.take(own, of_rank, {}, whole.cut(begin, end))


def _by_rank_and_unit(ranks: Places, units: Places) -> Places:
    """The order of lines by rank, and those of one rank as they stand in the log."""
    # Numbers of two bytes are sorted without comparing them.
    keys = ranks.astype(np.uint16) if int(ranks.max(initial=0)) < 1 << 16 else ranks
    if bool((units[1:] >= units[:-1]).all()):
        return np.argsort(keys, kind="stable")
    order = np.argsort(units, kind="stable")
    return order[np.argsort(keys[order], kind="stable")]


def _merged(shares: list[_Share]) -> _Share:
    points = [share.points for share in shares]
    order = np.argsort(np.concatenate([one.units for one in points]), kind="stable")
    texts = [share.texts.split(b"\n")[:-1] for share in shares]
    spelled = [text for found in texts for text in found]
    whole = len(spelled) == len(order)
    return _Share(
        _joined(points, order),
        np.concatenate([share.values for share in shares])[order],
        b"\n".join([*map(spelled.__getitem__, order.tolist()), b""]) if whole else b"",
    )


def _joined(points: list[Points], order: Places) -> Points:
    return Points(
        np.concatenate([one.units for one in points])[order],
        np.concatenate([one.lines for one in points])[order],
        _counts([one.epochs for one in points], points, order),
        _counts([one.steps for one in points], points, order),
    )


def _counts(counts: list[Floats | None], points: list[Points], order: Places) -> Floats | None:
    if all(count is None for count in counts):
        return None
    pieces = [
        np.full(len(one.units), np.nan) if count is None else count for count, one in zip(counts, points, strict=True)
    ]
    joined: Floats = np.concatenate(pieces)[order]
    return joined
