"""What jumped where the run was resumed."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from traindx.contract import Fact, Signal, Value
from traindx.detectors.citing import cite, where
from traindx.detectors.curves.shape import Numbers
from traindx.readers.model import Series, Stretch

SIGNALS = {
    "resumed-with-a-jump": "loss or learning rate jump where the run was resumed",
    "resumed-smoothly": "the run was resumed and continues where it left off",
}

_WORDS = re.compile(r"[a-z]{3,}")
# Points on each side of the seam: enough for a level, few enough to stay near it.
BESIDE = 8
MOST_LINES = 400


class Seam(Value):
    """One resumption."""

    source: str
    line: int
    at: str
    loss_before: float
    loss_after: float
    rate_before: float | None
    rate_after: float | None


def seams(loss: Series) -> list[int]:
    """The first points after the log says that it resumes, or the axis jumps back."""
    return [index for index in loss.restarts if 2 <= index <= len(loss) - 2]


def starts_over(loss: Series, index: int) -> bool:
    """Whether a seam goes back to the first step and to the level of an untrained model, or far above it: another
    training begins.
    """
    before, first, again = (float(loss.values[place]) for place in (index - 1, 0, index))
    untrained = abs(again - first) < 0.25 * abs(before - first) or again > 2 * max(first, before, 0.0)
    untrained = untrained or (before < 0.25 * first and again > 0.5 * first)  # another model's level is its own
    return bool(loss.at[index] <= loss.at[0]) and untrained


def is_another_stage(loss: Series, index: int, lines: Sequence[str]) -> bool:
    """Whether the count begins anew and the lines on both sides of a seam have other words: `pretrain`, `finetune`."""
    if not lines or loss.at[index] > loss.at[0]:
        return False
    before, after = (set(_WORDS.findall(line.lower())) for line in (lines[0], lines[-1]))
    return bool(before - after) and bool(after - before)


def between(loss: Series, index: int) -> Stretch | None:
    """The lines around a seam in which the run would say that it resumes."""
    if loss.place != "line" or loss.source_at(index - 1) != loss.source_at(index):
        return None
    first, last = int(loss.lines[index - 1]), int(loss.lines[index])
    return Stretch(loss.source_at(index), max(first, last - MOST_LINES), last)


def _sides(values: Numbers, index: int) -> tuple[Numbers, Numbers]:
    """The losses next to the seam, NaN aside."""
    old, new = values[max(0, index - BESIDE) : index], values[index : index + BESIDE]
    return old[np.isfinite(old)], new[np.isfinite(new)]


def seam(loss: Series, index: int, series: Sequence[Series]) -> Seam:
    """The levels on both sides of a resumption."""
    old, new = _sides(loss.values, index)
    return Seam(
        source=loss.source_at(index),
        line=int(loss.lines[index]),
        at=where(loss, index),
        loss_before=float(np.median(old)) if len(old) else math.nan,
        loss_after=float(np.median(new)) if len(new) else math.nan,
        rate_before=_rate(series, loss, index - 1),
        rate_after=_rate(series, loss, index),
    )


def _rate(series: Sequence[Series], loss: Series, index: int) -> float | None:
    """The learning rate logged at, or nearest to, a point of the loss."""
    source = loss.source_at(index)
    rate = next((row for row in series if row.name == "lr" and row.source == source and len(row) > 2), None)
    if rate is None:
        return None
    nearest = int(np.argmin(np.abs(rate.lines - int(loss.lines[index]))))
    return float(rate.values[nearest])


def detect(loss: Series, index: int, seam: Seam, shown: str) -> Signal:
    """Whether loss or rate jump at a resumption; `shown` is the line of its first value, as it is quoted."""
    old, new = _sides(loss.values, index)
    places = [
        cite(loss, index - 1, "the loss before the run was resumed"),
        cite(loss, index, "the loss after the run was resumed"),
    ]
    jumps = []
    if seam.rate_before and seam.rate_after and not 0.67 < seam.rate_after / seam.rate_before < 1.5:
        jumps.append(f"the learning rate goes from {seam.rate_before:.4g} to {seam.rate_after:.4g}")
    # On the seam a curve may wobble by its own scatter; a level that stands clear of it is a jump.
    scatter = float(np.max(old) - np.min(old)) if len(old) else math.inf
    jumped = seam.loss_after - seam.loss_before > max(1.5 * scatter, 0.1 * abs(seam.loss_before))
    if jumped or _broke_off(old, new):
        near = f"from {float(np.median(old[-3:])):.4g} to {float(np.median(new[:3])):.4g}"
        jumps.append(f"the loss goes {near}")
    facts: dict[str, Fact] = {
        "onset": seam.at,
        "change": shown,
        "change_place": f"{seam.source}:{seam.line}",
    }
    if jumps:
        claim = f"resumed at {seam.at}, and {' and '.join(jumps)}"
        strength = 1.0 if len(jumps) > 1 or len(new) < 2 or "loss" in jumps[0] else 0.8
        return Signal(id="resumed-with-a-jump", claim=claim, strength=strength, citations=places, facts=facts)
    claim = f"resumed at {seam.at}, and the loss continues at {seam.loss_after:.4g} ({seam.loss_before:.4g} before)"
    return Signal(id="resumed-smoothly", claim=claim, citations=places, facts=facts)


def _broke_off(old: Numbers, new: Numbers) -> bool:
    """A curve on its way down that stands higher after the seam than its steps before could explain."""
    if len(old) < 4 or len(new) < 2:
        return False
    before, after = float(np.median(old[-3:])), float(np.median(new[:3]))
    return after - before > max(3 * float(np.max(np.abs(np.diff(old)))), 0.25 * abs(before))
