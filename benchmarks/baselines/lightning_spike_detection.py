"""Lightning Fabric, `SpikeDetection`: a loss that is not finite, or `rtol` (2.0) times the running mean away from it.

The mean runs over `window` (10) losses; tracking starts after `warmup` (1); a loss below the last one is never a spike.
"""

from __future__ import annotations

import numpy as np

from baselines.rule import Rule, meaning
from baselines.seen import Seen

WINDOW, WARMUP, RTOL = 10, 1, 2.0


def judge(seen: Seen) -> list[str]:
    """The first spike ends the run."""
    for now in range(WARMUP, len(seen.loss)):
        loss, mean = float(seen.loss[now]), float(np.mean(seen.loss[max(0, now - WINDOW) : now]))
        if not np.isfinite(loss):
            return ["not finite"]
        if loss > seen.loss[now - 1] and abs(loss - mean) >= abs(RTOL * mean):
            return ["spike"]
    return []


RULE = Rule(
    name="Lightning SpikeDetection",
    source="https://github.com/Lightning-AI/pytorch-lightning/blob/master/src/lightning/fabric/utilities/spike.py",
    means={
        "not finite": meaning(
            "non-finite-loss",
            "exploding-gradients",
            "mixed-precision-overflow",
            "loss-scale-collapse",
            "unguarded-math",
            "learning-rate-too-high",
        ),
        "spike": meaning(
            "transient-loss-spike",
            "learning-rate-too-high",
            "lr-schedule-spike",
            "missing-warmup",
            "exploding-gradients",
            "resume-discontinuity",
            "data-distribution-shift",
        ),
    },
    judge=judge,
)
