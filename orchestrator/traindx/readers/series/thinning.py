"""The points of one column in bounded memory: of very many, every n-th is kept, and what stands out between them."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from traindx.readers.logs.bulk.digits import Floats, Places, Truths

Array = TypeVar("Array", bound=npt.NDArray[Any])
Stretch = tuple[Floats, Places, Floats | None, Floats | None, Places]

_WINDOW = 512
"""kept points among which the highest and the lowest stay whatever comes"""
_TAIL = 500
"""points at the end that are all kept, until further ones come"""


class Points:
    """Values with their lines, counters and rows, appended in stretches."""

    def __init__(self) -> None:
        self.stride = 1
        self._kept = 0
        self._seen = 0
        self._values: list[Floats] = []
        self._lines: list[Places] = []
        self._epochs: list[Floats | None] = []
        self._steps: list[Floats | None] = []
        self._rows: list[Places] = []
        """only once points are left out; until then they are counted through"""
        self._thinned = 0
        """stretches at the beginning that are thinned already"""

    def __len__(self) -> int:
        return self._kept

    def extend(self, values: Floats, lines: Places, epochs: Floats | None, steps: Floats | None) -> None:
        """Append a stretch."""
        self._values.append(values)
        self._lines.append(lines)
        self._epochs.append(epochs)
        self._steps.append(steps)
        if self._rows:
            self._rows.append(np.arange(self._seen + 1, self._seen + len(values) + 1))
        self._seen += len(values)
        self._kept += len(values)

    def thin(self, most: int) -> None:
        """Leave out points until at most so many are kept."""
        if not self._rows and self._kept:
            self._join()
            self._rows = [np.arange(1, self._kept + 1)]
        new = self._thinned
        while self._kept > most:
            if self.stride > 1 and new < len(self._values):
                self._choose(new, most)
                new = len(self._values)
                continue
            self.stride *= 2
            self._choose(0, most)
            new = len(self._values)
        self._thinned = len(self._values)

    def _choose(self, first: int, most: int) -> None:
        """Thin the stretches from `first` on by the stride."""
        values, lines, epochs, steps, rows = self._joined(first)
        chosen = _worth_keeping(values, (rows - 1) % self.stride == 0, most)
        self._kept += len(chosen) - len(values)
        self._values[first:] = [values[chosen]]
        self._lines[first:] = [lines[chosen]]
        self._epochs[first:] = [None if epochs is None else epochs[chosen]]
        self._steps[first:] = [None if steps is None else steps[chosen]]
        self._rows[first:] = [rows[chosen]]

    def _join(self) -> None:
        values, lines, epochs, steps, _ = self._joined(0)
        self._values, self._lines, self._epochs, self._steps = [values], [lines], [epochs], [steps]

    def close_up(self) -> None:
        """Hold what is kept in one piece."""
        if len(self._values) > 1:
            rows = self._joined(0)[4]
            self._join()
            self._rows = [rows] if len(rows) else []
            self._thinned = min(self._thinned, 1)

    def _joined(self, first: int, shared: Shared | None = None) -> Stretch:
        shared = shared or Shared()
        return (
            shared.join(self._values[first:], np.zeros(0)),
            shared.join(self._lines[first:], np.zeros(0, dtype=np.int64)),
            _counter(self._epochs[first:], self._values[first:], shared),
            _counter(self._steps[first:], self._values[first:], shared),
            shared.join(self._rows[first:], np.zeros(0, dtype=np.int64)),
        )

    def all(self, shared: Shared) -> Stretch:
        """Values, lines, epochs, steps and rows (from 1; none while they can be counted through) of what is kept."""
        return self._joined(0, shared)


class Shared:
    """Arrays put together from pieces, once for all columns that have the same pieces.

    The columns of a table count the same steps on the same lines: one array serves them all.
    """

    def __init__(self) -> None:
        self._joined: dict[tuple[str, tuple[int, ...]], tuple[list[Any], Any]] = {}

    def join(self, pieces: list[Array], empty: Array) -> Array:
        """The pieces as one array; whoever has the same pieces gets the same array."""
        key = (empty.dtype.str, tuple(map(id, pieces)))
        if key not in self._joined:
            # The pieces are kept too: an array that is gone gives its id to the next one.
            self._joined[key] = (pieces, pieces[0] if len(pieces) == 1 else np.concatenate([empty, *pieces]))
        joined: Array = self._joined[key][1]
        return joined


def _counter(pieces: list[Floats | None], beside: list[Floats], shared: Shared) -> Floats | None:
    if all(piece is None for piece in pieces):
        return None
    told = [np.full(len(b), np.nan) if piece is None else piece for piece, b in zip(pieces, beside, strict=True)]
    joined = shared.join(told, np.zeros(0))
    return None if bool(np.isnan(joined).all()) else joined


def _worth_keeping(values: Floats, regular: Truths, most: int) -> Places:
    """Every n-th point, the first and the last, where numbers cease to be finite or begin again, and the extremes."""
    keep = regular.copy()
    keep[:1] = True
    keep[-max(1, min(_TAIL, most // 4)) :] = True
    finite = np.isfinite(values)
    change = np.flatnonzero(finite[1:] != finite[:-1]) + 1
    if len(change) > most // 8 + 1:  # NaN at every other point: the first and last changes, and some between
        change = change[np.unique(np.linspace(0, len(change) - 1, most // 8 + 1).astype(np.int64))]
    keep[change] = keep[change - 1] = True
    shown = np.where(finite, values, 0.0)
    whole = len(shown) // _WINDOW * _WINDOW
    if whole:
        windows = shown[:whole].reshape(-1, _WINDOW)
        first = np.arange(0, whole, _WINDOW)
        keep[first + windows.argmin(axis=1)] = True
        keep[first + windows.argmax(axis=1)] = True
    return np.flatnonzero(keep)
