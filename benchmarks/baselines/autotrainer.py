"""AutoTrainer (Zhang et al., ICSE 2021), as its published monitor judges a history.

NaN, Inf or a loss of 1e3 is an explosion. Where accuracy stays below 0.6 (Theta), or never gains 0.01 (delta) between
two epochs: dying ReLU with 70 % of the gradients zero (gamma), exploding with first/last layer above 70 (beta_3),
vanishing with first/last below 1e-3 and the first below 1e-4 (beta_1, beta_2), slow convergence by delta. Otherwise
oscillation: accuracy swings of 0.03 (zeta) in a fifth of the epochs (eta).
"""

from __future__ import annotations

import numpy as np

from baselines.rule import Rule, meaning
from baselines.seen import WEIGHTS_ROOT, Numbers, Seen

BETA_1, BETA_2, BETA_3 = 1e-3, 1e-4, 70.0
GAMMA, DELTA, ZETA, ETA, THETA = 0.7, 0.01, 0.03, 0.2, 0.6
LARGEST_LOSS = 1e3


def judge(seen: Seen) -> list[str]:
    """The monitor's verdict at the end of the run; without a logged accuracy its gate stands open."""
    curves = [seen.loss, seen.val_loss, *seen.gradients]
    if any((~np.isfinite(row)).any() for row in curves) or (len(seen.loss) and seen.loss[-1] >= LARGEST_LOSS):
        return ["exploding"]
    scores = [row for row in (seen.train_accuracy, seen.val_accuracy) if len(row) > 1]
    slow = bool(scores) and all(float(np.diff(row).max()) < DELTA for row in scores)
    unsatisfied = not scores or any(float(row.max()) < THETA for row in scores)
    if slow or unsatisfied:
        found = _in_gradients(seen)
        return found or (["slow convergence"] if slow else [])
    return ["oscillating"] if _oscillates(scores[0]) else []


def _in_gradients(seen: Seen) -> list[str]:
    if any(float(np.median(row)) >= GAMMA for row in seen.idle):
        return ["dying ReLU"]
    if len(seen.gradients) < 2:
        return []
    first, last = (float(np.median(row)) * WEIGHTS_ROOT for row in (seen.gradients[0], seen.gradients[-1]))
    ratio = first / last if last else np.inf
    if ratio > BETA_3:
        return ["exploding"]
    return ["vanishing"] if ratio < BETA_1 and first < BETA_2 else []


def _oscillates(accuracy: Numbers) -> bool:
    before, now, after = accuracy[:-2], accuracy[1:-1], accuracy[2:]
    highs, lows = now[(now >= before) & (now >= after)], now[(now <= before) & (now <= after)]
    count = min(len(highs), len(lows))
    return int(np.count_nonzero(highs[:count] - lows[:count] >= ZETA)) >= ETA * len(accuracy)


RULE = Rule(
    name="AutoTrainer",
    source="https://github.com/shiningrain/AUTOTRAINER",
    means={
        "exploding": meaning(
            "exploding-gradients",
            "non-finite-loss",
            "learning-rate-too-high",
            "mixed-precision-overflow",
            "loss-scale-collapse",
            "unguarded-math",
        ),
        "vanishing": meaning("vanishing-gradients", "bad-initialisation", "saturated-activations"),
        "dying ReLU": meaning("dead-relu", "bad-initialisation"),
        "slow convergence": meaning(
            "learning-rate-too-low",
            "plateau-at-chance",
            "underfitting",
            "over-regularised",
            "over-clipped-gradients",
            "undertrained",
            "bad-initialisation",
            "single-class-collapse",
        ),
        "oscillating": meaning("noisy-gradients", "learning-rate-too-high"),
    },
    judge=judge,
)
