"""Placing texts so that none covers another, and as little as possible of the curves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from traindx.report.plot.chart import Numbers
from traindx.report.plot.shapes import Anchor, Words

Frame = tuple[float, float, float, float]
LABEL = 12.0
ROW = 16.0


def rows_of(spans: Sequence[tuple[float, float]]) -> list[int]:
    """The first row with room for each span, from the top; spans of one row never touch."""
    taken: list[list[tuple[float, float]]] = []
    rows = []
    for left, right in spans:
        row = next((at for at, there in enumerate(taken) if all(right < a or left > b for a, b in there)), len(taken))
        if row == len(taken):
            taken.append([])
        taken[row].append((left - 8, right + 8))
        rows.append(row)
    return rows


def spread(wanted: Sequence[float], low: float, high: float, gap: float = ROW) -> list[float]:
    """Heights near the wanted ones, in their order, at least `gap` apart and between `low` and `high` if they fit."""
    order = sorted(range(len(wanted)), key=lambda at: wanted[at])
    placed = [0.0] * len(wanted)
    floor = low
    for at in order:
        placed[at] = max(wanted[at], floor)
        floor = placed[at] + gap
    ceiling = high
    for at in reversed(order):
        placed[at] = min(placed[at], ceiling)
        ceiling = placed[at] - gap
    return placed


def beside(
    x: float, y: float, text: str, colour: str, room: Frame, taken: Sequence[Frame], curves: tuple[Numbers, Numbers]
) -> Words:
    """A label near a point: inside the room, off the other labels, over as few points of the curves as possible."""
    sides: tuple[tuple[float, Anchor], ...] = ((9.0, "start"), (-9.0, "end"), (0.0, "middle"))
    heights = [-8.0, 18.0, -14.0, 22.0, -18.0, 30.0, -30.0, 44.0, -46.0, 62.0, -70.0]
    tried = [Words(x + dx, y + dy, text, LABEL, colour, side, halo=True) for dy in heights for dx, side in sides]
    costs = [_cost(words.frame, room, taken, curves) + 0.2 * (abs(words.y - y) + abs(words.x - x)) for words in tried]
    return tried[int(np.argmin(costs))]


def _cost(frame: Frame, room: Frame, taken: Sequence[Frame], curves: tuple[Numbers, Numbers]) -> float:
    left, top, right, bottom = frame
    outside = left < room[0] or top < room[1] or right > room[2] or bottom > room[3]
    covered = sum(1 for a in taken if left < a[2] and right > a[0] and top < a[3] and bottom > a[1])
    x, y = curves
    # The rim of a letter reaches this far beyond it.
    near = (x > left - 3) & (x < right + 3) & (y > top - 4) & (y < bottom + 4)
    hidden = int(np.count_nonzero(near))
    return 1000.0 * outside + 400.0 * covered + min(300.0, 4.0 * hidden)
