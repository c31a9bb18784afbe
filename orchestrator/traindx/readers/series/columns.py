"""Points collected while a file is read, column by column, and the series they become."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from traindx.readers.coverage import POINTS_OF_FILE
from traindx.readers.model import Series
from traindx.vocabulary.metrics import Kind, MetricName

if TYPE_CHECKING:
    from traindx.readers.model import LineNumbers, Numbers
    from traindx.readers.series.thinning import Points
    from traindx.readers.series.timeline import Timelines

MOST_TEXTS = 200_000
"""points of a series whose spelling is kept"""
MOST_COLUMNS = 400
"""columns of one file; a log with more is printing something other than metrics"""
MOST_POINTS = 1_000_000
"""points of a series before it is thinned"""
MOST_TEXTS_OF_FILE = 400_000
"""points of all series of a file whose spelling is kept: some 30 MB"""
_FEWEST_POINTS = 2_000
"""points that a column may have however many columns there are"""
_MISSING = math.nan


class Column:
    """One metric of one file: where its points stand on each counter, their values, lines and spelling."""

    def __init__(self, original: str, metric: MetricName) -> None:
        self.original, self.metric = original, metric
        self.total = 0.0
        self.unit = ""
        self._texts: list[bytes] | None = []
        """what the points are spelt like, each with a line feed; None for too many"""
        self._count = 0
        self._epochs, self._steps, self._values, self._lines = array("d"), array("d"), array("d"), array("q")
        self._settled: Points | None = None

    def __len__(self) -> int:
        return self._count

    def add(self, value: float, text: str, line: int, epoch: float | None, step: float | None) -> None:
        """Append a point; a counter that the file does not show is None."""
        self._values.append(value)
        self._lines.append(line)
        self._epochs.append(_MISSING if epoch is None else epoch)
        self._steps.append(_MISSING if step is None else step)
        self._count += 1
        if self._texts is not None:
            self._texts.append(f"{text}\n".encode())
            if self._count > MOST_TEXTS:
                self._texts = None
                self._settle()

    def keeps_texts(self, more: int) -> bool:
        """Whether the spelling of so many further points would be kept."""
        return self._texts is not None and self._count + more <= MOST_TEXTS

    @property
    def spells(self) -> bool:
        """Whether the spelling of further points may be kept."""
        return self._texts is not None

    def extend(
        self,
        values: Numbers,
        texts: bytes,
        lines: LineNumbers,
        epochs: Numbers | None,
        steps: Numbers | None,
    ) -> None:
        """Append many points; `texts` spells each, with a line feed."""
        if self._texts is not None:
            if self.keeps_texts(len(values)):
                self._texts.append(texts)
            else:
                self._texts = None
        self._points.extend(values, lines, epochs, steps)
        self._count += len(values)

    @property
    def kept(self) -> int:
        """How many points are in memory."""
        return len(self._values) + (0 if self._settled is None else len(self._settled))

    @property
    def stride(self) -> int:
        """One point in so many is kept."""
        return 1 if self._settled is None else self._settled.stride

    def thin(self, most: int) -> None:
        """Keep at most so many of the points so far, and as few of those to come."""
        self._points.thin(most)

    @property
    def _points(self) -> Points:
        """All points, as numpy arrays."""
        self._settle()
        if self._settled is None:
            from traindx.readers.series.thinning import Points

            self._settled = Points()
        return self._settled

    def _settle(self) -> None:
        """Move the points that came one by one to the others."""
        if not self._values:
            return
        import numpy as np

        from traindx.readers.series.thinning import Points

        self._settled = self._settled or Points()
        self._settled.extend(
            np.array(self._values), np.array(self._lines), np.array(self._epochs), np.array(self._steps)
        )
        self._epochs, self._steps, self._values, self._lines = array("d"), array("d"), array("d"), array("q")

    def close_up(self) -> None:
        """Hold the points of a thinned column in one piece, so that its series need no copy of them."""
        if self.stride > 1:
            self._points.close_up()

    @property
    def texts(self) -> int:
        """How many points are kept with their spelling."""
        return 0 if self._texts is None else self._count

    def forget_texts(self) -> None:
        """Keep no spelling, neither of the points so far nor of those to come."""
        self._texts = None

    def series(self, source: str, name: str, timelines: Timelines | None = None) -> Series:
        """The column as a series on the axis that orders its points."""
        from traindx.readers.series.timeline import Timelines

        timelines = timelines or Timelines()
        points = self._points
        values, lines, epochs, steps, rows = points.all(timelines.shared)
        timeline = timelines.of(epochs, steps, rows, len(values), self.total)
        return Series(
            name=name,
            original=self.original,
            source=source,
            axis=timeline.axis,
            at=timeline.at,
            values=values,
            lines=lines,
            texts=tuple(b"".join(self._texts or ()).decode().split("\n")[:-1]),
            unit=self.unit,
            steps=steps,
            epochs=epochs,
            restarts=timeline.restarts,
            thinned=points.stride,
        )


class Columns:
    """Every column of one file, told apart by spelling and by what counts it."""

    def __init__(self, most_points: int = POINTS_OF_FILE, most_texts: int = MOST_TEXTS_OF_FILE) -> None:
        self._columns: dict[tuple[str, str, str, int], Column] = {}
        self._most_points, self._most_texts = most_points, most_texts
        self.overflow = False
        self.room = 0
        """points that may come before `bound` has anything to do, whichever columns get them"""

    def column(self, original: str, metric: MetricName, counted_by: str, rank: int = -1) -> Column | None:
        """The column for a spelling, a phase, a counter and a rank; None once the file has too many."""
        key = (original, metric.name, counted_by, rank)
        column = self._columns.get(key)
        if column is None:
            if len(self._columns) >= MOST_COLUMNS:
                self.overflow = True
                return None
            column = self._columns[key] = Column(original, metric)
        return column

    def bound(self) -> None:
        """Thin the longest columns until all of them together fit."""
        columns = self._columns.values()
        for column in columns:
            if column.kept > MOST_POINTS:
                column.thin(MOST_POINTS)
        while sum(column.kept for column in columns) > self._most_points:
            # Columns of about the same length are thinned alike: those of several ranks stay comparable.
            half = max(_FEWEST_POINTS, max(column.kept for column in columns) // 2)
            longest = [column for column in columns if column.kept > half]
            if not longest:
                break
            for column in longest:
                column.thin(half)
        kept = [column.kept for column in columns]
        self.room = min(self._most_points - sum(kept), MOST_POINTS - max(kept, default=0))
        self._bound_texts(1.0)

    def expect(self, share: float) -> None:
        """Given the share of the file that was read: keep no spelling of what will be far too many points."""
        for column in self._columns.values():
            if len(column) > 1.25 * MOST_TEXTS * share:
                column.forget_texts()
        self._bound_texts(1.25 * share)

    def _bound_texts(self, share: float) -> None:
        columns = [column for column in self._columns.values() if column.texts]
        while sum(column.texts for column in columns) > self._most_texts * share:
            half = max(column.texts for column in columns) // 2
            for column in columns:
                if column.texts > half:
                    column.forget_texts()

    def remarks(self, source: str) -> list[str]:
        """What was left out, in words."""
        strides = [column.stride for column in self._columns.values() if column.stride > 1]
        if not strides:
            return []
        return [
            f"`{source}` has so many points that of {len(strides)} series only one in up to {max(strides)} was kept,"
            " with the extremes between them"
        ]

    def series(self, source: str) -> list[Series]:
        """The series of the file, in the order in which they first appear."""
        from traindx.readers.series.timeline import Timelines

        timelines = Timelines()
        named = {column.metric.name for column in self._columns.values() if column.metric.kind == "loss"}
        lowest: dict[tuple[str, str, str], int] = {}
        for *key, rank in self._columns:
            same = (key[0], key[1], key[2])
            lowest[same] = min(lowest.get(same, rank), rank)
        found: list[Series] = []
        metrics: list[MetricName] = []
        for column in self._columns.values():
            column.close_up()
        for (original, metric, counted_by, rank), column in self._columns.items():
            if not len(column) or (counted_by == "row" and _passing_mention(column)):
                continue
            name = column.metric.name
            # `train 0.18 val 0.17` names phases only: that is the loss, unless a loss is named beside it.
            if column.metric.kind == "phase" and name in named:
                name = f"{column.metric.phase}/value"
            # Of several ranks that print the same, the lowest speaks for the run.
            if rank > lowest[original, metric, counted_by]:
                column.original = f"rank{rank}:{original}"
            found.append(column.series(source, name, timelines))
            metrics.append(column.metric)
        return _beside_a_loss(found, metrics)


def _beside_a_loss(found: list[Series], metrics: Sequence[MetricName]) -> list[Series]:
    """Phases without a measure on the lines of a loss that has no phase: shares between 0 and 1 are accuracies."""
    whole = [row for row, told in zip(found, metrics, strict=True) if told.kind == "loss" and not told.phase]
    if not whole or not len(whole[0].lines):
        return found
    beside = set(whole[0].lines.tolist())
    made = []
    for row, told in zip(found, metrics, strict=True):
        lines = row.lines.tolist()
        same = told.kind == "phase" and bool(lines) and sum(line in beside for line in lines) > len(lines) / 2
        share = same and float(row.values.min()) >= 0.0 and float(row.values.max()) <= 1.0
        made.append(replace(row, name=f"{told.phase}/{'accuracy' if share else 'value'}") if same else row)
    return made


_MENTIONABLE: frozenset[Kind] = frozenset({"loss", "accuracy"})


def _passing_mention(column: Column) -> bool:
    return len(column) < 2 and column.metric.kind not in _MENTIONABLE
