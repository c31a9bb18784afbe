"""Rows of an array that hold one number throughout, counted while the array is read piece by piece."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

WIDE = 16
"""numbers of a row that are not all the same by chance"""
_WIDEST = 1 << 22
_MOST_PIECES = 64
"""pieces whose rows are compared"""


class FlatRows:
    """How many rows hold one number throughout, as far as pieces follow each other from the start."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.width = math.prod(shape[1:]) if len(shape) > 1 else 0
        self.seen = self.flat = 0
        self.first: int | None = None
        self._left: npt.NDArray[np.generic] | None = None
        self._steps = 0

    def take(self, piece: npt.NDArray[np.generic]) -> None:
        """Take in the next stretch; what is left of a row waits for the one after it."""
        import numpy as np

        if not WIDE <= self.width <= _WIDEST or self._steps >= _MOST_PIECES:
            return
        self._steps += 1
        numbers = piece if self._left is None else np.concatenate([self._left, piece])
        whole = len(numbers) // self.width
        self._left = numbers[whole * self.width :]
        table = numbers[: whole * self.width].reshape(whole, self.width)
        same = (table == table[:, :1]).all(axis=1)
        if self.first is None and same.any():
            self.first = self.seen + int(np.argmax(same))
        self.seen, self.flat = self.seen + whole, self.flat + int(same.sum())
