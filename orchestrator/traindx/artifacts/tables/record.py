"""Records of named cells, as columns: rows of a CSV, objects of a JSON history."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from traindx.artifacts.metrics.columns import Column, Columns
from traindx.artifacts.metrics.names import MetricName, normalise

if TYPE_CHECKING:
    from traindx.artifacts.logs.digits import Floats, Places, Truths

    ManyCells = tuple[str, Floats, Truths, Callable[[Places], bytes]]
    """a name, a value for each row, in which rows there is one, and how to spell some of them"""

_NOT_NUMBERS = {"", "-", "none", "null", "n/a", "na"}
_COUNTERS = ("row", "epoch", "step")


class Records:
    """Collects records; each value goes to the column of its name, at the step or epoch of its record."""

    def __init__(self, columns: Columns | None = None) -> None:
        self.columns = Columns() if columns is None else columns
        self._homes: dict[tuple[str, str], Column | None] = {}

    def row(self, cells: Iterable[tuple[str, str, int]]) -> None:
        """Take in a record: the name, spelling and line of each cell."""
        epoch = step = None
        measured: list[tuple[str, MetricName, float, str, int]] = []
        for name, text, line in cells:
            value = number(text)
            if value is None:
                continue
            metric = normalise(name)
            if metric.kind == "epoch":
                epoch = value if math.isfinite(value) else epoch
            elif metric.kind == "step":
                step = value if math.isfinite(value) and step is None else step
            else:
                measured.append((name, metric, value, text, line))
        counted_by = "step" if step is not None else "epoch" if epoch is not None else "row"
        for name, metric, value, text, line in measured:
            column = self._home(name, metric, counted_by)
            if column is not None:
                column.add(value, text, line, epoch, step)

    def rows(self, cells: list[ManyCells], lines: Places) -> None:
        """Take in many records at once, all with the same names."""
        import numpy as np

        epochs, steps = np.full(len(lines), np.nan), np.full(len(lines), np.nan)
        measured: list[tuple[MetricName, ManyCells]] = []
        for cell in cells:
            name, values, present, _ = cell
            metric = normalise(name)
            said = present & np.isfinite(values)
            if metric.kind == "epoch":
                epochs = np.where(said, values, epochs)
            elif metric.kind == "step":
                steps = np.where(said & np.isnan(steps), values, steps)
            else:
                measured.append((metric, cell))
        counted = np.where(np.isnan(steps), np.where(np.isnan(epochs), 0, 1), 2)
        # Columns are numbered as they come up, row by row.
        found = []
        kinds = [counter for counter in range(3) if bool((counted == counter).any())]
        for place, (metric, (name, values, present, spell)) in enumerate(measured):
            for counter in kinds:
                chosen = np.flatnonzero(present & (counted == counter) if len(kinds) > 1 else present)
                if len(chosen):
                    found.append((int(chosen[0]), place, counter, metric, name, values, spell, chosen))
        for _, _, counter, metric, name, values, spell, chosen in sorted(found, key=lambda item: item[:2]):
            column = self._home(name, metric, _COUNTERS[counter])
            if column is None:
                continue
            texts = spell(chosen) if column.keeps_texts(len(chosen)) else b""
            if len(chosen) == len(lines):  # the usual row has all its cells: nothing to pick
                column.extend(values, texts, lines, epochs, steps)
            else:
                column.extend(values.take(chosen), texts, lines.take(chosen), epochs.take(chosen), steps.take(chosen))

    def _home(self, name: str, metric: MetricName, counted_by: str) -> Column | None:
        key = (name, counted_by)
        if key not in self._homes:
            self._homes[key] = self.columns.column(name, metric, counted_by)
        return self._homes[key]


def number(text: str) -> float | None:
    """The number in a cell; None for what is none, or stands for none."""
    if not text or len(text) > 60 or text.lower() in _NOT_NUMBERS:
        return None
    try:
        return float(text[:-1] if text.endswith("%") else text)
    except ValueError:
        return None
