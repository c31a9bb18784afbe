"""A series in one row."""

from __future__ import annotations

import numpy as np

from traindx.artifacts import Series
from traindx.contract import SeriesSummary
from traindx.curves.loss import is_loss


def summarise(row: Series, judged: bool = False) -> SeriesSummary:
    """Where it begins, ends, is lowest and highest; NaN where no value is finite. The run may be `judged` by it."""
    finite = row.values[np.isfinite(row.values)]
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
        loss=judged or is_loss(row.name),
    )
