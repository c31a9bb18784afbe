"""The points of one column in bounded memory: of very many, every n-th is kept, and what stands out between them."""

from __future__ import annotations

import numpy as np

from traindx.artifacts.logs.digits import Floats, Places, Truths

_WINDOW = 512
"""kept points among which the highest and the lowest stay whatever comes"""


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
                self._choose(new)
                new = len(self._values)
                continue
            self.stride *= 2
            self._choose(0)
            new = len(self._values)
        self._thinned = len(self._values)

    def _choose(self, first: int) -> None:
        """Thin the stretches from `first` on by the stride."""
        values, lines, epochs, steps, rows = self._joined(first)
        chosen = _worth_keeping(values, (rows - 1) % self.stride == 0)
        self._kept += len(chosen) - len(values)
        self._values[first:] = [values[chosen]]
        self._lines[first:] = [lines[chosen]]
        self._epochs[first:] = [None if epochs is None else epochs[chosen]]
        self._steps[first:] = [None if steps is None else steps[chosen]]
        self._rows[first:] = [rows[chosen]]

    def _join(self) -> None:
        values, lines, epochs, steps, _ = self._joined(0)
        self._values, self._lines, self._epochs, self._steps = [values], [lines], [epochs], [steps]

    def _joined(self, first: int) -> tuple[Floats, Places, Floats | None, Floats | None, Places]:
        lengths = [len(values) for values in self._values[first:]]
        rows = np.concatenate(self._rows[first:]) if self._rows else np.zeros(0, dtype=np.int64)
        return (
            np.concatenate([np.zeros(0), *self._values[first:]]),
            np.concatenate([np.zeros(0, dtype=np.int64), *self._lines[first:]]),
            _counter(self._epochs[first:], lengths),
            _counter(self._steps[first:], lengths),
            rows,
        )

    def all(self) -> tuple[Floats, Places, Floats | None, Floats | None, Floats]:
        """Values, lines, epochs, steps and rows (from 1) of the points that are kept."""
        values, lines, epochs, steps, rows = self._joined(0)
        counted = rows.astype(np.float64) if len(rows) else np.arange(1.0, len(values) + 1)
        return values, lines, epochs, steps, counted


def _counter(pieces: list[Floats | None], lengths: list[int]) -> Floats | None:
    if all(piece is None or bool(np.isnan(piece).all()) for piece in pieces):
        return None
    filled = [
        np.full(length, np.nan) if piece is None else piece for piece, length in zip(pieces, lengths, strict=True)
    ]
    joined: Floats = np.concatenate(filled)
    return joined


def _worth_keeping(values: Floats, regular: Truths) -> Places:
    """Every n-th point, the first and the last, where numbers cease to be finite or begin again, and the extremes."""
    keep = regular.copy()
    keep[:1] = keep[-1:] = True
    finite = np.isfinite(values)
    change = np.flatnonzero(finite[1:] != finite[:-1]) + 1
    keep[change] = keep[change - 1] = True
    shown = np.where(finite, values, 0.0)
    whole = len(shown) // _WINDOW * _WINDOW
    if whole:
        windows = shown[:whole].reshape(-1, _WINDOW)
        first = np.arange(0, whole, _WINDOW)
        keep[first + windows.argmin(axis=1)] = True
        keep[first + windows.argmax(axis=1)] = True
    return np.flatnonzero(keep)
