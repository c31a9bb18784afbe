"""Series that measure the same thing layer by layer, in the order from input to output."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from traindx.contract import SeriesSummary
from traindx.detectors.curves.loss import is_loss
from traindx.detectors.curves.objective import words_of
from traindx.detectors.curves.shape import Shape, shape_of
from traindx.readers.model import Series

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
_STATISTICS = {"bias", "max", "min", "std", "total", "scale", "clip", "clipped", "group"}


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


def summarise(row: Series, judged: Shape | None = None) -> SeriesSummary:
    """Where it begins, ends, is lowest and highest; NaN where no value is finite.

    `judged` is its shape where it is the curve that the run is judged by.
    """
    finite = row.values[np.isfinite(row.values)]
    loss = judged is not None or is_loss(row.name)
    shape = judged or (shape_of(row.values) if loss else None)
    lowest, highest = (float(finite.min()), float(finite.max())) if len(finite) else (float("nan"), float("nan"))
    return SeriesSummary(
        name=row.name,
        original=row.original,
        source=row.source,
        axis=row.axis,
        points=len(row),
        start=float(row.at[0]),
        end=float(row.at[-1]),
        first=float(row.values[0]),
        last=float(row.values[-1]),
        lowest=lowest,
        highest=highest,
        non_finite=len(row) - len(finite),
        restarts=len(row.restarts),
        thinned=row.thinned,
        duplicate_of=row.duplicate_of,
        diverged=shape is not None and shape.onset is not None,
        loss=loss,
        judged=judged is not None,
    )
