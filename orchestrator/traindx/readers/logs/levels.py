"""Whether losses are back at the level they began with: another model is being trained."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.readers.model import Series

FEWEST_RECORDS = 4
"""values of a loss by which a fold or seed is told from the next"""
FALLEN = 0.05
"""of its first value, what a loss must have gained before a return to it means anything"""
BACK = 0.25
"""of that gain, how near to its first value a loss is when another model begins"""


def as_at_first(counted: Sequence[Series], since: int, edge: int) -> bool:
    """Whether every loss is back, at the line `edge`, where it was at `since`, far from where it had come to."""
    import numpy as np

    judged = 0
    for row in counted:
        begin, after = (int(place) for place in row.lines.searchsorted([since, edge]))
        if after - begin >= FEWEST_RECORDS and after == len(row):
            return False  # something that was under way does not begin again
        if not row.name.endswith("loss") or after - begin < FEWEST_RECORDS:
            continue
        first, last, anew = row.values[begin], float(np.median(row.values[after - 3 : after])), row.values[after]
        if not np.isfinite([first, anew]).all():
            return False
        # Where the one before ended in NaN, only a new model can be back at a number.
        gain = abs(first - last) if np.isfinite(last) else abs(first)
        if gain <= FALLEN * abs(first) or abs(anew - first) > BACK * gain:
            return False
        judged += 1
    return judged > 0
