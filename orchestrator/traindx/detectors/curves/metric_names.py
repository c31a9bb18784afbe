"""The words inside the names of metrics, and the levels that metrics begin and end at."""

from __future__ import annotations

import re

import numpy as np

from traindx.readers.model import Series

# Words inside a metric's name, told apart by `/`, `_`, `.`, `-` and digits.
_PARTS = re.compile(r"[/_.\-\s]+")


def words_with_digits(row: Series) -> set[str]:
    """The words of a metric's own name; digits belong to them, as in `l2`."""
    return {word for word in _PARTS.split(row.original.lower()) if word}


def words_without_digits(row: Series) -> set[str]:
    """The words of a metric's own name, its digits aside."""
    return {word for word in _PARTS.split(re.sub(r"\d+", "", row.original.lower())) if word}


def ends(row: Series) -> tuple[float, float]:
    """The levels at which a series begins and ends: medians of its first and last tenth."""
    part = max(1, len(row) // 10)
    return float(np.median(row.values[:part])), float(np.median(row.values[-part:]))
