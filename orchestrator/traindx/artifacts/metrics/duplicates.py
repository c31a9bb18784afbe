"""Series that a run logged to several places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from traindx.artifacts.model import Series

# Two writers round differently: four digits in a log, all of them in a table.
_SAME = 1e-3


def mark_duplicates(series: Sequence[Series]) -> list[Series]:
    """The same series, those that repeat an earlier file's point by point marked with that file."""
    seen: dict[tuple[str, str, int], list[Series]] = {}
    marked = []
    for row in series:
        earlier = seen.setdefault((row.name, row.axis, len(row)), [])
        twin = next((other for other in earlier if other.source != row.source and _equal(other, row)), None)
        if twin is None:
            earlier.append(row)
        marked.append(row if twin is None else replace(row, duplicate_of=twin.source))
    return marked


def _equal(one: Series, other: Series) -> bool:
    import numpy as np

    if not np.array_equal(one.at, other.at):
        return False
    return bool(np.allclose(one.values, other.values, rtol=_SAME, atol=_SAME * 1e-3, equal_nan=True))
