"""Where to look for what changed: the break of a curve, or a jump that it did not come back from."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from traindx.detectors.curves.breaks import relearned_from
from traindx.detectors.curves.objective import Objective

FEWEST = 5
STAYS_UP = 2.0
"""times its former level that a curve must keep after a jump, for the jump to be more than a spike"""


def change_point(goal: Objective) -> tuple[int | None, bool]:
    """The point at which something changed, and whether it is no more than a spike that came back."""
    onset = goal.shape.broke
    if onset is None:
        onset = relearned_from(goal) or _jump(goal)
    if onset is None and goal.shape.peak_index:
        return goal.shape.peak_index, True
    return onset or None, False


def stays_since(above: npt.NDArray[np.bool_]) -> int:
    """The point from which on most are above and before which most are not: single outliers do not move it."""
    signs = np.where(above, 1, -1)
    later = np.concatenate([np.cumsum(signs[::-1])[::-1], [0]])
    return int(np.argmax(later - np.concatenate([[0], np.cumsum(signs)])))


def _jump(goal: Objective) -> int | None:
    """Where a curve jumps that comes down again, but not to where it was: the point before which all was well."""
    top = goal.shape.peak_index
    if top is None or top < FEWEST:
        return None
    before = goal.costs[max(0, top - 20) : top]
    low = float(np.nanmedian(before))
    if not 0 < STAYS_UP * low < goal.shape.end or not goal.costs[top] > 3 * low:
        return None
    risen = np.flatnonzero(before > 2 * low)
    first = len(before) - 1 if not len(risen) else int(risen[0])
    late = top - len(before) + first
    return late if len(risen) else top
