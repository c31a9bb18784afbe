"""Series that measure the same thing layer by layer, in the order from input to output."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from traindx.artifacts import Series
from traindx.curves.objective import words_of

_NUMBERS = re.compile(r"(\d+)")
_AT_THE_INPUT = {
    "embed",
    "embedding",
    "embeddings",
    "input",
    "stem",
    "first",
    "early",
    "in",
    "bottom",
    "encoder",
    "enc",
}
_AT_THE_OUTPUT = {"head", "output", "out", "last", "late", "top", "classifier", "logits", "decoder", "dec", "final"}
_STATISTICS = {"bias", "max", "min", "std", "total", "scale", "clip", "clipped"}


def by_layer(series: Sequence[Series], *words: str) -> list[Series]:
    """The largest group of series of one file whose names hold one of the words, ordered from input to output."""
    groups: dict[str, list[Series]] = {}
    for row in series:
        measured = bool(words_of(row) & set(words)) or row.original.startswith("|g|")
        if len(row) and measured and not words_of(row) & _STATISTICS and row.name != "grad_norm":
            groups.setdefault(row.source, []).append(row)
    largest = max(groups.values(), key=len, default=[])
    return sorted(largest, key=_depth) if len(largest) > 1 else []


def level(row: Series) -> float:
    """The usual size over the whole run, NaN aside."""
    finite = np.abs(row.values[np.isfinite(row.values)])
    return float(np.median(finite)) if len(finite) else float("nan")


def _depth(row: Series) -> tuple[int, list[float]]:
    words = words_of(row)
    end = -1 if words & _AT_THE_INPUT else 1 if words & _AT_THE_OUTPUT else 0
    return end, [float(number) for number in _NUMBERS.findall(row.original)]
