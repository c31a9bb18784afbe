"""Questions about the marks of tensors."""

from __future__ import annotations

from traindx.program.values import Tensor

_OF_SPLITS = ("oversampled", "fitted-")


def tells_of_splits(array: Tensor) -> bool:
    """Whether it matters how the rows of an array are parted: copies are among them, or something was fitted on all."""
    return any(mark.startswith(_OF_SPLITS) for mark in array.marks)
