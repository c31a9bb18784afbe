"""Convergence: what each stretch of a curve brought."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from traindx.contract import Value
from traindx.detectors.citing import where
from traindx.detectors.curves.objective import Objective

WINDOWS = 8


class Window(Value):
    """A stretch of the curve: its level, and the share of the whole improvement it brought (below zero: it lost)."""

    since: str
    level: float
    gained: float


def windows(goal: Objective) -> list[Window]:
    """Equal stretches of the run, each with what it brought."""
    costs, shape = goal.costs, goal.shape
    edges = np.linspace(0, len(costs), min(WINDOWS, len(costs)) + 1).astype(int)
    found, before = [], shape.start
    for first, last in pairwise(edges):
        finite = costs[first:last][np.isfinite(costs[first:last])]
        level = float(np.median(finite)) if len(finite) else float("nan")
        gained = (before - level) / shape.improvement if shape.improvement > 0 else 0.0
        found.append(Window(since=where(goal.series, int(first)), level=goal.shown(level), gained=round(gained, 4)))
        before = level if len(finite) else before
    return found
