"""Whole blocks of a log at once: lines are grouped by what stands between their digits and read group by group.

One line of a group goes the slow way and is understood; the others are compared with it byte for byte and read
from the places it gave. What does not compare goes the slow way itself, so the result is that of reading line by
line: same points, same order.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from traindx.readers.logs.bulk.block import Block
from traindx.readers.logs.bulk.digits import Places, Truths, Words
from traindx.readers.logs.bulk.layout import Layouts
from traindx.readers.logs.bulk.parts import Part, by_rank
from traindx.readers.logs.bulk.shares import Shares
from traindx.readers.logs.bulk.skeleton import Lines, Number, Skeleton, digits_of, learn, span, values

if TYPE_CHECKING:
    from traindx.readers.logs.textlog import LogReader, Plan
    from traindx.readers.native.library import Library

_FEW = 4
"""lines that are sooner read one by one than understood as a group"""
_MOST_VARIANTS = 24
_MOST_SKELETONS = 20_000
_LARGE_GROUPS = 32


@dataclass
class _Loose:
    """Lines of one plan that were read one by one."""

    units: list[int] = field(default_factory=list)
    rows: list[tuple[str, ...]] = field(default_factory=list)


@dataclass(order=True)
class _Task:
    """Units of one key, by their first; `alone` where each has to be understood for itself."""

    first: int
    units: Places = field(compare=False)
    key: int = field(compare=False)
    tried: int = field(compare=False, default=0)
    """how many of the key's skeletons were compared already"""
    alone: bool = field(compare=False, default=False)

    def rest(self, units: Places, tried: int = 0, alone: bool = False) -> _Task:
        """The same for what is left of the units."""
        return _Task(int(units[0]), units, self.key, tried, alone)


class Bulk:
    """Reads the blocks of one log for a `LogReader`, which understands single lines and keeps the columns.

    Numbers are read by compiled code where there is some, and by numpy otherwise.
    """

    def __init__(self, reader: LogReader, code: Library | None) -> None:
        self._reader, self._code = reader, code
        self._known: dict[int, list[tuple[Skeleton, Plan | None]]] = defaultdict(list)
        self._skeletons = 0
        self._layouts = Layouts()
        self._shares = Shares(reader)

    def block(self, first: int, data: bytes) -> None:
        """Take in a block that starts at line `first` and at the beginning of a line."""
        block = Block(first, data)
        parts, left = self._layouts.read(block, self._reader)
        if bool(left.any()):
            rest = block.only(left)
            read = self._rest(rest)
            self._layouts.learn(rest, self._reader)
            parts += [replace(part, units=rest.origin[part.units]) for part in read]
        self._shares.take(block, parts)

    def bound(self) -> None:
        """Thin the columns where they are too long, counting what waits to be told apart."""
        self._shares.bound()

    def finish(self) -> None:
        """Hand over what waits."""
        self._shares.hand_over()
        self._reader.columns.bound()

    def _rest(self, block: Block) -> list[Part]:
        """Read lines of any layout."""
        block.find_runs()
        parts: list[Part] = []
        loose: dict[int, tuple[Plan, _Loose]] = {}
        # Forms and columns are numbered as they come up: what is new has to be met in the order of the lines.
        tasks = self._tasks(block)
        heapify(tasks)
        while tasks:
            task = heappop(tasks)
            if task.alone or len(task.units) < _FEW:
                self._one(block, task.first, loose)
                if len(task.units) > 1:
                    heappush(tasks, task.rest(task.units[1:], task.tried, task.alone))
            else:
                for later in self._many(block, task, parts):
                    heappush(tasks, later)
        return parts + [_read_alone(plan, lines) for plan, lines in loose.values()]

    def _tasks(self, block: Block) -> list[_Task]:
        keys = block.keys()
        longest = block.ends - block.begins > self._reader.longest
        shown = np.diff(block.first_runs) > 0
        tasks = [
            _Task(int(group[0]), group, int(keys[group[0]]))
            for group in groups_of(keys, np.flatnonzero(shown & ~longest))
        ]
        alone = shown & longest
        alone |= ~shown & block.says_nan() if bool((~shown & (block.ends > block.begins)).any()) else False
        return tasks + [_Task(int(unit), np.array([unit]), 0, alone=True) for unit in np.flatnonzero(alone)]

    def _one(self, block: Block, unit: int, loose: dict[int, tuple[Plan, _Loose]]) -> None:
        found = self._reader.understood(block.raw(unit).decode(errors="replace"))
        if found is not None:
            plan, numbers = found
            _, lines = loose.setdefault(id(plan), (plan, _Loose()))
            lines.units.append(unit)
            lines.rows.append(numbers)

    def _many(self, block: Block, task: _Task, parts: list[Part]) -> list[_Task]:
        """Read what fits a skeleton; what does not comes back as tasks for later."""
        later: list[_Task] = []
        counts = np.diff(block.first_runs).take(task.units)
        runs = int(counts[0])
        units = task.units
        if bool((counts != runs).any()):
            later.append(task.rest(units[counts != runs]))
            units = units[counts == runs]
        lines = block.lines(units, runs)
        known = self._known[task.key]
        for tried, (skeleton, plan) in enumerate(known[task.tried :], task.tried):
            good = skeleton.fits(block.text, lines)
            fitting = replace(task, units=units[good], tried=tried)
            later += self._take(block, fitting, skeleton, plan, lines.only(good), parts)
            units, lines = units[~good], lines.only(~good)
            if not len(units):
                return later
        if units[0] != task.first or len(units) < _FEW:
            return [*later, task.rest(units, len(known))]
        if len(known) >= _MOST_VARIANTS or self._skeletons >= _MOST_SKELETONS:
            return [*later, task.rest(units, alone=True)]
        self._learn(block, task.first, known)
        return [*later, task.rest(units, len(known) - 1)]

    def _learn(self, block: Block, unit: int, known: list[tuple[Skeleton, Plan | None]]) -> None:
        raw = block.raw(unit)
        found = self._reader.understood(raw.decode(errors="replace"))
        plan = found[0] if found else None
        skeleton = learn(raw, block.runs(unit), found[1] if found else None, self._reader.labelled)
        if plan is not None and plan.form.ratios:
            skeleton.numbers = None
        known.append((skeleton, plan))
        self._skeletons += 1

    def _take(
        self,
        block: Block,
        task: _Task,
        skeleton: Skeleton,
        plan: Plan | None,
        lines: Lines,
        parts: list[Part],
    ) -> list[_Task]:
        units, later = task.units, []
        if not len(units):
            return []
        if skeleton.numbers is None:
            return [task.rest(units, alone=True)]
        if plan is None:
            return []
        ranks = None
        if skeleton.rank >= 0:
            ranks = digits_of(block.text, lines, skeleton.rank).view(np.int64)
            met = self._met(block, task, plan, ranks)
            if not bool(met.all()):
                later = [task.rest(units[~met], task.tried)]
                units, lines, ranks = units[met], lines.only(met), ranks[met]
        parts += self._read(block, units, skeleton.numbers, plan, lines, ranks)
        return later

    def _met(self, block: Block, task: _Task, plan: Plan, ranks: Places) -> Truths:
        """Which lines are of a rank whose columns are there, or may be made now: of the first line of all."""
        first = int(ranks[0])
        if task.units[0] == task.first and not self._reader.has_met(first, plan.shape):
            self._reader.understood(block.raw(task.first).decode(errors="replace"))
        known = [rank for rank in np.unique(ranks).tolist() if self._reader.has_met(rank, plan.shape)]
        return np.isin(ranks, known)

    def _read(
        self,
        block: Block,
        units: Places,
        spelled: list[Number],
        plan: Plan,
        lines: Lines,
        ranks: Places | None,
    ) -> list[Part]:
        wanted = {place for place in (plan.form.epoch, plan.form.step, plan.form.total) if place >= 0}
        wanted.update(field.index for field in plan.form.fields)
        numbers = {place: values(block.text, lines, spelled[place], self._code) for place in wanted}

        def spell(place: int, chosen: Places | None) -> bytes:
            number = spelled[place]
            if number.constant is not None:
                return f"{number.text}\n".encode() * (len(units) if chosen is None else len(chosen))
            starts, ends = span(lines, number)
            return block.text.spelled(*((starts, ends) if chosen is None else (starts[chosen], ends[chosen])))

        return by_rank(plan, ranks, units, numbers, spell, self._reader)


def groups_of(keys: Words, units: Places) -> list[Places]:
    """Units of equal keys together, each group in order."""
    groups: list[Places] = []
    left, of_left = units, keys[units]
    while len(left) and len(groups) < _LARGE_GROUPS:
        same = of_left == of_left[0]
        groups.append(left[same])
        few = len(groups[-1]) * 64 < len(left)
        left, of_left = left[~same], of_left[~same]
        if few:
            break
    if len(left):
        order = np.argsort(of_left, kind="stable")
        cuts = np.flatnonzero(np.diff(of_left[order])) + 1
        groups += np.split(left[order], cuts)
    return groups


def _read_alone(plan: Plan, lines: _Loose) -> Part:
    from traindx.readers.logs.textlog import numbers_of

    numbers, texts = numbers_of(plan, lines.rows)
    values = {place: np.array(found) for place, found in numbers.items()}
    return Part(plan, np.array(lines.units), values, {place: _blob(found) for place, found in texts.items()})


def _blob(texts: list[str]) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()
