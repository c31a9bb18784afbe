"""The exact point at which a thinned series changed: what lies between two kept points is asked for again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from traindx.readers.model import Series

Closer = Callable[[Series, int, int], Series | None]
"""every point of a series between two of its points, read again; None where that cannot be had"""
AROUND = 2
"""kept points before the change from which on the rest is read"""


def exact_onset(
    row: Series, since: int, changed: Callable[[npt.NDArray[np.float64]], npt.NDArray[np.bool_]], closer: Closer | None
) -> tuple[Series, int]:
    """The series that holds the first changed point, and its place there; the given one where nothing is finer."""
    if closer is None or row.thinned <= 1:
        return row, since
    finer = closer(row, max(0, since - AROUND), min(len(row) - 1, since + AROUND))
    if finer is None:
        return row, since
    there = changed(finer.values)
    # One outlier is no change: the next points must have changed as well.
    lasting = [place for place in np.flatnonzero(there) if there[place : place + 5].mean() > 0.5]
    return (finer, int(lasting[0])) if lasting else (row, since)
