"""Points collected while a file is read, column by column, and the series they become."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

from traindx.artifacts.model import Axis, Series
from traindx.artifacts.names import Kind, MetricName

if TYPE_CHECKING:
    from traindx.artifacts.model import Numbers

MOST_TEXTS = 200_000
"""points of a series whose spelling is kept"""
MOST_COLUMNS = 400
"""columns of one file; a log with more is printing something other than metrics"""
_MISSING = math.nan


class Column:
    """One metric of one file: where its points stand on each counter, their values, lines and spelling."""

    def __init__(self, original: str, metric: MetricName) -> None:
        self.original, self.metric = original, metric
        self.epochs, self.steps, self.values, self.lines = array("d"), array("d"), array("d"), array("q")
        self.total = 0.0
        self.texts: list[str] | None = []

    def add(self, value: float, text: str, line: int, epoch: float | None, step: float | None) -> None:
        """Append a point; a counter that the file does not show is None and costs no memory."""
        epochs, steps = None if epoch is None else (epoch,), None if step is None else (step,)
        self.extend((value,), (text,), (line,), epochs, steps)

    def extend(
        self,
        values: Sequence[float],
        texts: Sequence[str],
        lines: Sequence[int],
        epochs: Sequence[float] | None,
        steps: Sequence[float] | None,
    ) -> None:
        """Append points that stand in lines of one form."""
        known = len(self.values)
        self.values.extend(values)
        self.lines.extend(lines)
        for counter, positions in ((self.epochs, epochs), (self.steps, steps)):
            if positions is not None:
                _pad(counter, known)
                counter.extend(positions)
        if self.texts is not None:
            if known + len(texts) <= MOST_TEXTS:
                self.texts.extend(texts)
            else:
                self.texts = None

    def series(self, source: str, name: str) -> Series:
        """The column as a series on the axis that orders its points."""
        import numpy as np

        axis, at = self._positions()
        return Series(
            name=name,
            original=self.original,
            source=source,
            axis=axis,
            at=at,
            values=np.frombuffer(self.values, dtype=np.float64),
            lines=np.frombuffer(self.lines, dtype=np.int64),
            texts=tuple(self.texts or ()),
        )

    def _positions(self) -> tuple[Axis, Numbers]:
        import numpy as np

        _pad(self.epochs, len(self.values))
        _pad(self.steps, len(self.values))
        epochs = np.frombuffer(self.epochs, dtype=np.float64)
        steps = np.frombuffer(self.steps, dtype=np.float64)
        counts_epochs, counts_steps = bool(np.isfinite(epochs).all()), bool(np.isfinite(steps).all())
        if counts_steps and not (counts_epochs and _restarts_each_epoch(epochs, steps)):
            return "step", steps
        if not counts_epochs:
            return (
                ("step", _carried(steps)) if np.isfinite(steps[:1]).any() else ("row", np.arange(1.0, len(epochs) + 1))
            )
        if not counts_steps or bool((np.diff(epochs) > 0).all()):
            return "epoch", epochs
        # Steps that start again with each epoch are positions inside it: epoch 3, step 50 of 200 stands at 3.25.
        length = max(self.total, float(steps.max())) or 1.0
        return "epoch", epochs + np.clip(steps / length, 0.0, 0.999)


class Columns:
    """Every column of one file, told apart by spelling and by what counts it."""

    def __init__(self) -> None:
        self._columns: dict[tuple[str, str, str], Column] = {}
        self.overflow = False

    def column(self, original: str, metric: MetricName, counted_by: str) -> Column | None:
        """The column for a spelling, a phase and a counter; None once the file has too many."""
        key = (original, metric.name, counted_by)
        column = self._columns.get(key)
        if column is None:
            if len(self._columns) >= MOST_COLUMNS:
                self.overflow = True
                return None
            column = self._columns[key] = Column(original, metric)
        return column

    def series(self, source: str) -> list[Series]:
        """The series of the file, in the order in which they first appear."""
        named = {column.metric.name for column in self._columns.values() if column.metric.kind == "loss"}
        found = []
        for (_, _, counted_by), column in self._columns.items():
            if not len(column.values) or (counted_by == "row" and _passing_mention(column)):
                continue
            name = column.metric.name
            # `train 0.18 val 0.17` names phases only: that is the loss, unless a loss is named beside it.
            if column.metric.kind == "phase" and name in named:
                name = f"{column.metric.phase}/value"
            found.append(column.series(source, name))
        return found


_MENTIONABLE: frozenset[Kind] = frozenset({"loss", "accuracy"})


def _passing_mention(column: Column) -> bool:
    return len(column.values) < 2 and column.metric.kind not in _MENTIONABLE


def _pad(counter: array[float], length: int) -> None:
    if len(counter) < length:
        counter.extend(_MISSING for _ in range(length - len(counter)))


def _restarts_each_epoch(epochs: Numbers, steps: Numbers) -> bool:
    import numpy as np

    onward = np.diff(epochs) >= 1
    return bool(onward.any()) and bool((np.diff(steps)[onward] <= 0).mean() > 0.5)


def _carried(steps: Numbers) -> Numbers:
    import numpy as np

    known = np.where(np.isfinite(steps), np.arange(len(steps)), 0)
    filled: Numbers = steps[np.maximum.accumulate(known)]
    return filled
