"""What to mark in the picture of a curve, and which curves belong into it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from traindx.detectors.citing import where
from traindx.detectors.curves.loss import is_loss, validation_of
from traindx.detectors.curves.objective import Objective, words_of
from traindx.detectors.curves.shape import Numbers, shape_of
from traindx.readers.model import Series

MOST_LINES = 4
MOST_SPIKES = 5
MOST_SEAMS = 6
# Beyond this many points single values say little: levels over windows are meant.
CROWDED = 300
LEVELS = 100
RARE = 0.002
_PARTS = {"kl", "kld", "rec", "recon", "reconstruction", "nll", "elbo", "mse", "ce", "bce", "aux", "d", "g"}
_NOT_PARTS = {"best", "min", "max", "ema", "avg", "smooth", "smoothed", "std", "scale", "weight"}


MarkKind = Literal["best", "onset", "lost", "spike", "seam"]


@dataclass(frozen=True, eq=False)
class Marking:
    """Something to mark: the point of a series, and where it lies on the axis of the judged curve."""

    kind: MarkKind
    label: str
    series: Series
    index: int
    x: float
    y: float | None = None
    until: float | None = None
    downward: bool = False


def with_company(goal: Objective, series: Sequence[Series]) -> list[Series]:
    """The judged curve, its validation, and the parts of the loss that were logged beside it."""
    loss = goal.series
    if goal.rewarded:
        return [loss]
    seen_on = None if loss.phase in {"val", "test"} else validation_of(loss, series)
    parts = [
        row
        for row in series
        if row.source == loss.source and row.phase in {"train", ""} and row is not loss and not row.duplicate_of
        and row.axis == loss.axis and 2 * len(row) > len(loss) and not words_of(row) & _NOT_PARTS
        and (is_loss(row.name) or words_of(row) & _PARTS) and np.isfinite(row.values).any()
    ]  # fmt: skip
    return [loss, *([seen_on] if seen_on is not None else []), *parts][:MOST_LINES]


def marks(rows: Sequence[Series], goal: Objective | None) -> list[Marking]:
    """Best point, onset of a break, first NaN, spikes that recovered, and where the run goes on after a stop."""
    return [*(_of_the_curve(rows, goal) if goal is not None else []), *_seams(rows[0])]


def _of_the_curve(rows: Sequence[Series], goal: Objective) -> list[Marking]:
    loss, shape = goal.series, goal.shape
    found: list[Marking] = []
    judged = next((row for row in rows[1:] if row.phase in {"val", "test"} and len(row) > 2), loss)
    best = best_point(judged, goal.rewarded)
    if best is not None:
        index, value, what = best
        label = f"{what} {judged.name} {value:.4g} at {where(judged, index)}"
        found.append(Marking("best", label, judged, index, float(positions(judged, loss)[index]), value))
    if shape.onset is not None and (shape.first_non_finite is None or shape.onset < shape.first_non_finite):
        label = f"{goal.rose} permanently from {where(loss, shape.onset)}"
        found.append(Marking("onset", label, loss, shape.onset, float(loss.at[shape.onset])))
    if shape.first_non_finite is not None:
        found.append(_lost(loss, shape.first_non_finite))
    for top in _spikes(goal):
        what, value = "dip to" if goal.rewarded else "spike to", float(loss.values[top])
        label = f"{what} {value:.4g} at {where(loss, top)}, recovered"
        found.append(Marking("spike", label, loss, top, float(loss.at[top]), value, downward=goal.rewarded))
    return found


def best_point(row: Series, rewarded: bool) -> tuple[int, float, str] | None:
    """Where a series is best, how good that is, and what to call it; of very many points the best level counts."""
    costs = -row.values if rewarded else row.values
    finite = np.where(np.isfinite(costs), costs, np.inf)
    if len(row) < 3 or not np.isfinite(finite).any():
        return None
    if int(np.count_nonzero(np.isfinite(costs))) > CROWDED:
        shape = shape_of(costs)
        return shape.best_index, -shape.best if rewarded else shape.best, "best level of"
    at = int(np.argmin(finite))
    return at, float(row.values[at]), "best"


def _lost(loss: Series, first: int) -> Marking:
    after = np.flatnonzero(np.isfinite(loss.values[first:]))
    what = "NaN" if np.isnan(loss.values[first]) else "Inf"
    if len(after):
        lost = int(np.count_nonzero(~np.isfinite(loss.values)))
        share = f", {lost:,} of {len(loss):,} values lost" if lost > 1 else ""
        return Marking("lost", f"{what} at {where(loss, first)}{share}", loss, first, float(loss.at[first]))
    label, until = f"{what} from {where(loss, first)} on", float(np.max(loss.at))
    return Marking("lost", label, loss, first, float(loss.at[first]), until=until)


def _spikes(goal: Objective) -> list[int]:
    """Excursions that came back, the highest of each neighbourhood: of the level, and of single points far above it."""
    end = goal.shape.broke
    costs = goal.costs[:end]
    reach = max(2, len(costs) // 25)
    shape = shape_of(costs)
    tops = [] if shape.peak_index is None else [shape.peak_index]
    if len(costs) > CROWDED and np.isfinite(costs).all():
        edges = np.linspace(0, len(costs), LEVELS + 1).astype(int)
        parts = list(pairwise(edges.tolist()))
        level = np.repeat([np.median(costs[first:last]) for first, last in parts], np.diff(edges))
        above = costs - level
        # Twelve times the scatter: once in many billions of points by chance.
        far = np.flatnonzero(above > max(12 * 1.4826 * float(np.median(np.abs(above))), 0.25 * shape.improvement))
        far = far[far >= edges[2]]
        # Where many points stand out, that is how the curve scatters.
        if len(far) <= max(MOST_SPIKES, RARE * len(costs)):
            tops += far[np.argsort(-above[far], kind="stable")].tolist()
    found: list[int] = []
    for top in tops:
        # What stands right before the break is its beginning, not something that was over.
        over = end is None or len(costs) - top > reach
        if over and len(found) < MOST_SPIKES and all(abs(top - other) > reach for other in found):
            found.append(top)
    return sorted(found)


def _seams(loss: Series) -> list[Marking]:
    return [
        Marking("seam", f"continues at {where(loss, index)}", loss, index, float(loss.at[index]))
        for index in loss.restarts[:MOST_SEAMS]
    ]


def positions(row: Series, first: Series) -> Numbers:
    """The positions of a series on the axis of the first one: as logged, else by the order of lines, else spread."""
    if row.axis == first.axis:
        return row.at
    told = {"step": row.steps, "epoch": row.epochs}.get(first.axis)
    if told is not None and np.isfinite(told).all():
        return told
    if row.source == first.source and row.place == first.place == "line" and not first.restarts:
        placed: Numbers = np.interp(row.lines, first.lines, first.at)
        return placed
    low, high = float(np.min(first.at)), float(np.max(first.at))
    span = float(np.max(row.at) - np.min(row.at)) or 1.0
    # An evaluation comes at the end of its epoch: the last one where the first series ends.
    step = (high - low) / max(len(row), 1)
    spread: Numbers = low + step + (row.at - np.min(row.at)) / span * (high - low - step)
    return spread
