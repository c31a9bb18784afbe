"""What stored numbers are like, in one pass over them: not finite, zero, their range and their size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Literal

from traindx.readers.checkpoints.model import TensorInfo

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    import numpy.typing as npt

    from traindx.readers.native.library import Library

    Raw = npt.NDArray[np.uint8]

BLOCK = 2 << 20
"""bytes that are read at a time: they stay in the processor's last cache until they are measured"""
# A complex number is two numbers.
WIDTHS = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "complex64": 4}
"""bytes of a number of the types that are measured"""
_STORED = {"float64": "<f8", "float32": "<f4", "float16": "<f2", "bfloat16": "<u2", "complex64": "<f4"}
_KINDS = {"float32": 4, "complex64": 4, "float16": 2, "bfloat16": 3}
"""what the compiled code calls them; it leaves doubles to numpy"""


@dataclass(frozen=True)
class Measure:
    """A tensor's numbers, among those that were looked at; range and squares are of the finite ones."""

    tensor: TensorInfo
    looked: int
    nans: int = 0
    infinities: int = 0
    above: int = 0
    """infinities that are positive"""
    zeros: int = 0
    lowest: float = math.inf
    highest: float = -math.inf
    squares: float = 0.0
    zero_rows: int = 0
    """rows with nothing but zeros"""

    @property
    def finite(self) -> int:
        """How many numbers are finite."""
        return self.looked - self.nans - self.infinities

    @property
    def rms(self) -> float:
        """The size of a number."""
        return math.sqrt(self.squares / self.finite) if self.finite else math.nan

    @property
    def constant(self) -> bool:
        """Whether all numbers are the same."""
        return self.looked == self.finite > 1 and self.lowest == self.highest

    def same_as(self, other: Measure) -> bool:
        """Whether two tensors of one shape hold the same numbers, as far as all that was measured tells."""
        own = (self.looked, self.nans, self.zeros, self.lowest, self.highest, self.squares)
        return own == (other.looked, other.nans, other.zeros, other.lowest, other.highest, other.squares)


class Tally:
    """Adds up what blocks of numbers tell."""

    def __init__(self, dtype: str, native: Library | Literal["as built"] | None = "as built") -> None:
        import numpy as np

        from traindx.readers.native.library import library

        self._dtype, self._native = dtype, library() if native == "as built" else native
        self._told = np.array([0, 0, 0, 0, np.inf, -np.inf, 0], dtype=np.float64)
        self.looked = 0

    def add(self, raw: Raw) -> None:
        """Measure some bytes; what is left of a number at their end does not count."""
        count = len(raw) // WIDTHS[self._dtype]
        self.looked += count
        if self._native is not None and self._dtype in _KINDS:
            self._native.measure(raw, count, _KINDS[self._dtype], self._told)
        elif count:
            self._add_with_numpy(raw[: count * WIDTHS[self._dtype]])

    def _add_with_numpy(self, raw: Raw) -> None:
        import numpy as np

        values = decoded(raw, self._dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            squares = float(np.einsum("i,i->", values, values, dtype=np.float64))
            if not math.isfinite(squares):
                self._told[:3] += [np.isnan(values).sum(), np.isposinf(values).sum(), np.isneginf(values).sum()]
                values = values[np.isfinite(values)]
                squares = float(np.einsum("i,i->", values, values, dtype=np.float64))
        if len(values):
            self._told[3] += len(values) - np.count_nonzero(values)
            self._told[4] = min(self._told[4], values.min())
            self._told[5] = max(self._told[5], values.max())
            self._told[6] += squares

    def of(self, tensor: TensorInfo, zero_rows: int = 0) -> Measure:
        """The measure of a tensor whose numbers were added."""
        nans, above, below, zeros, lowest, highest, squares = self._told.tolist()
        infinities = int(above + below)
        return Measure(
            tensor, self.looked, int(nans), infinities, int(above), int(zeros), lowest, highest, squares, zero_rows
        )

    @property
    def zeros(self) -> int:
        """How many zeros there were so far."""
        return int(self._told[3])


def decoded(raw: Raw, dtype: str) -> npt.NDArray[np.float32] | npt.NDArray[np.float64]:
    """Stored bytes as numbers, of single precision at least."""
    import numpy as np

    stored = raw.view(_STORED[dtype])
    if dtype == "bfloat16":
        # The upper half of a float32.
        return (stored.astype(np.uint32) << 16).view(np.float32)
    return stored.astype(np.float32) if dtype == "float16" else stored


def tally(handle: BinaryIO, place: int, pieces: Iterable[tuple[int, int]], dtype: str, block: Raw) -> Tally:
    """Measure some pieces of a tensor: where they begin, and how many numbers they are."""
    width, told, memory = WIDTHS[dtype], Tally(dtype), block.data
    for begin, length in pieces:
        handle.seek(place + begin * width)
        left = length * width
        while left > 0:
            taken = handle.readinto(memory[: min(left, BLOCK)])  # type: ignore[attr-defined]
            if taken < width:
                return told
            told.add(block[:taken])
            left -= taken
    return told


def zero_rows(handle: BinaryIO, place: int, tensor: TensorInfo, most: int = 256 << 20) -> int:
    """How many rows (of the first dimension) hold nothing but zeros; of very long tensors, among the first."""
    import numpy as np

    rows, width = tensor.shape[0], WIDTHS[tensor.dtype]
    row = tensor.elements // max(1, rows) * width
    if not row or row > most:
        return 0
    found, at_once = 0, max(1, BLOCK // row)
    handle.seek(place)
    for begin in range(0, min(rows, most // row), at_once):
        raw = handle.read(min(at_once, rows - begin) * row)
        block = np.frombuffer(raw[: len(raw) // row * row], dtype=np.uint8).reshape(-1, row)
        found += int((~block.any(axis=1)).sum())
    return found
