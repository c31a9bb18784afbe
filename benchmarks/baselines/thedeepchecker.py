"""TheDeepChecker (Ben Braiek and Khomh, TOSEM 2023), the checks of its `settings.yaml` that logs can show.

Losses are averaged over ten steps (an epoch is an average already). Stagnated: four falls in a row below 5 %.
Diverging: five averages at twice the minimum. Fluctuating: over 50 averages more than half change direction. Initial
loss: off ln K by ln K. Gradients: mean below 1e-6 or above 1e6. Updates: log10 of the ratio outside [-4, -1]. NaN, Inf.
Its authors run these checks while one batch is being fitted; a whole run is harder on them.
"""

from __future__ import annotations

import math

import numpy as np

from baselines.rule import Rule, meaning
from baselines.seen import Numbers, Seen

PERIOD, WINDOW, LONG_WINDOW = 10, 5, 50
DECREASE, GROWTH, SMOOTHNESS, DEVIATION = 0.05, 2.0, 0.5, 1.0
SMALLEST, LARGEST = 1e-6, 1e6
LOW_UPDATE, HIGH_UPDATE = -4.0, -1.0


def judge(seen: Seen) -> list[str]:
    """All checks that fail, the most specific first."""
    found = ["non-finite"] if any((~np.isfinite(row)).any() for row in (seen.loss, *seen.gradients)) else []
    start = float(seen.loss[0]) if len(seen.loss) else math.nan
    if seen.classes > 1 and abs(start - math.log(seen.classes)) >= DEVIATION * math.log(seen.classes):
        found.append("initial loss")
    found += ["exploding gradient"] if any((row > LARGEST).any() for row in seen.gradients) else []
    found += ["vanishing gradient"] if any((row < SMALLEST).any() for row in seen.gradients) else []
    found += _updates(seen)
    return [*found, *_curve(_averages(seen))]


def _updates(seen: Seen) -> list[str]:
    scales = [float(np.log10(np.median(row[row > 0]))) for row in seen.updates if (row > 0).any()]
    high = ["updates too large"] if any(scale > HIGH_UPDATE for scale in scales) else []
    return high or (["updates too small"] if any(scale < LOW_UPDATE for scale in scales) else [])


def _averages(seen: Seen) -> Numbers:
    losses = seen.loss[np.isfinite(seen.loss)]
    if seen.by_epoch:
        return losses
    whole = len(losses) // PERIOD * PERIOD
    averages: Numbers = losses[:whole].reshape(-1, PERIOD).mean(axis=1)
    return averages


def _curve(losses: Numbers) -> list[str]:
    found: dict[str, None] = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for end in range(WINDOW, len(losses) + 1):
            last = losses[end - WINDOW : end]
            if (last >= GROWTH * losses[:end].min()).all() and last.min() > 0:
                found["diverging"] = None
            if ((last[:-1] - last[1:]) / last[:-1] < DECREASE).all():
                found["stagnated"] = None
        for end in range(LONG_WINDOW, len(losses) + 1):
            turns = np.count_nonzero(np.diff(np.diff(losses[end - LONG_WINDOW : end]) > 0))
            if 1 - turns / LONG_WINDOW < SMOOTHNESS:
                found["fluctuating"] = None
    return [verdict for verdict in ("diverging", "fluctuating", "stagnated") if verdict in found]


RULE = Rule(
    name="TheDeepChecker",
    source="https://github.com/thedeepchecker/thedeepchecker",
    means={
        "non-finite": meaning(
            "non-finite-loss",
            "exploding-gradients",
            "mixed-precision-overflow",
            "loss-scale-collapse",
            "unguarded-math",
            "learning-rate-too-high",
        ),
        "initial loss": meaning("bad-initialisation"),
        "exploding gradient": meaning("exploding-gradients", "learning-rate-too-high"),
        "vanishing gradient": meaning("vanishing-gradients", "dead-relu", "saturated-activations"),
        "updates too large": meaning("learning-rate-too-high"),
        "updates too small": meaning("learning-rate-too-low", "over-clipped-gradients"),
        "diverging": meaning(
            "learning-rate-too-high",
            "lr-schedule-spike",
            "exploding-gradients",
            "missing-warmup",
            "resume-discontinuity",
            "data-distribution-shift",
        ),
        "fluctuating": meaning("noisy-gradients", "learning-rate-too-high"),
        "stagnated": meaning(
            "plateau-at-chance",
            "underfitting",
            "learning-rate-too-low",
            "learning-rate-too-high",
            "lr-decayed-to-zero",
            "vanishing-gradients",
            "over-regularised",
            "over-clipped-gradients",
        ),
    },
    judge=judge,
)
