"""Where the points of a column stand: on which axis, at which positions, and where the axis jumps back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from traindx.readers.logs.bulk.digits import Floats, Places
from traindx.readers.model import Axis
from traindx.readers.series.thinning import Shared

_MOST_RESTARTS = 1_000


@dataclass(frozen=True, eq=False)
class Timeline:
    """An axis with a position for each point."""

    axis: Axis
    at: Floats
    restarts: tuple[int, ...]


class Timelines:
    """The timelines of a file's columns; columns that count the same share theirs."""

    def __init__(self) -> None:
        self.shared = Shared()
        self._known: dict[tuple[int, int, int, float], tuple[tuple[object, ...], Timeline]] = {}

    def of(self, epochs: Floats | None, steps: Floats | None, rows: Places, count: int, total: float) -> Timeline:
        """The timeline of points with these counters; `total` is how many steps an epoch is said to have."""
        counters = (epochs, steps) if len(rows) == 0 else (epochs, steps, rows)
        key = (id(epochs), id(steps), id(rows) if len(rows) else count, total)
        if key not in self._known:
            # The arrays are kept too: one that is gone gives its id to the next one.
            self._known[key] = (counters, _timeline(epochs, steps, rows, count, total))
        return self._known[key][1]


def _timeline(epochs: Floats | None, steps: Floats | None, rows: Places, count: int, total: float) -> Timeline:
    # Counters from a broken file may be as large as a double gets.
    with np.errstate(over="ignore"):
        axis, at = _positions(epochs, steps, total)
    if at is None:
        return Timeline("row", rows.astype(np.float64) if len(rows) else np.arange(1.0, count + 1), ())
    back = np.flatnonzero(at[1:] < at[:-1]) + 1
    return Timeline(axis, at, tuple(back[:_MOST_RESTARTS].tolist()))


def _positions(epochs: Floats | None, steps: Floats | None, total: float) -> tuple[Axis, Floats | None]:
    counts_epochs = epochs is not None and bool(np.isfinite(epochs).all())
    counts_steps = steps is not None and bool(np.isfinite(steps).all())
    if (
        steps is not None
        and counts_steps
        and not (epochs is not None and counts_epochs and _restarts_each_epoch(epochs, steps))
    ):
        return "step", steps
    if epochs is None or not counts_epochs:
        if steps is not None and bool(np.isfinite(steps[:1]).any()):
            return "step", _carried(steps)
        return "row", None
    if steps is None or not counts_steps or bool((np.diff(epochs) > 0).all()):
        return "epoch", epochs
    # Steps that start again with each epoch are positions inside it: epoch 3, step 50 of 200 stands at 3.25.
    length = max(total, float(steps.max())) or 1.0
    return "epoch", epochs + np.clip(steps / length, 0.0, 0.999)


def _restarts_each_epoch(epochs: Floats, steps: Floats) -> bool:
    onward = np.flatnonzero(epochs[1:] - epochs[:-1] >= 1)
    return bool(len(onward)) and bool((steps[onward + 1] <= steps[onward]).mean() > 0.5)


def _carried(steps: Floats) -> Floats:
    known = np.where(np.isfinite(steps), np.arange(len(steps)), 0)
    filled: Floats = steps[np.maximum.accumulate(known)]
    return filled
