"""Series that a run logged to several places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from traindx.readers.model import Series

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


FEWEST = 3
TIMES = 3
"""how many times further another series counts over the same time"""
TO_THE_END = 0.8


def mark_epochs(series: Sequence[Series]) -> list[Series]:
    """The series, those that count epochs beside others that count steps with their axis named so.

    `add_scalar("epoch/lr", rate, epoch)` and `add_scalar("batch/loss", loss, step)` go into one file, and nothing in it
    says that the two numbers differ in kind.
    """
    import numpy as np

    last: dict[tuple[str, str], float] = {(row.source, row.axis): 0.0 for row in series}
    final: dict[str, int] = {}
    for row in series:
        if len(row):
            last[row.source, row.axis] = max(last[row.source, row.axis], float(np.max(row.at)))
            final[row.source] = max(final.get(row.source, 0), int(row.lines[-1]))
    return [_as_epochs(row) if _counts_epochs(row, last, final) else row for row in series]


def _counts_epochs(row: Series, last: dict[tuple[str, str], float], final: dict[str, int]) -> bool:
    if row.axis != "step" or row.place != "record" or len(row) < FEWEST:
        return False
    # Logged to the end of the file, one by one, while other counters went far beyond.
    to_the_end = int(row.lines[-1]) >= TO_THE_END * final[row.source]
    further = last[row.source, "step"] >= TIMES * (float(row.at[-1]) + 1)
    one_by_one = bool((row.at[1:] - row.at[:-1] == 1).all())
    return to_the_end and further and one_by_one and float(row.at[0]) in {0.0, 1.0}


def _as_epochs(row: Series) -> Series:
    return replace(row, axis="epoch", epochs=row.at, steps=None)
