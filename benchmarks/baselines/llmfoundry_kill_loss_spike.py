"""llm-foundry, `KillLossSpike`: more than four losses in a row at twice the mean of the last hundred, or a high loss.

`patience` 4, `outlier_multiplier` 2, `window_size` 100; high: half of the window above `loss_cap` (10), after two
windows. Its message advises a lower learning rate.
"""

from __future__ import annotations

import numpy as np

from baselines.rule import Rule, meaning
from baselines.seen import Seen

PATIENCE, MULTIPLIER, WINDOW, LOSS_CAP = 4, 2.0, 100, 10.0


def judge(seen: Seen) -> list[str]:
    """The first verdict ends the run."""
    outliers = 0
    for now in range(WINDOW, len(seen.loss)):
        window = seen.loss[now - WINDOW : now]
        outliers = outliers + 1 if seen.loss[now] >= MULTIPLIER * np.mean(window) else 0
        if outliers > PATIENCE:
            return ["loss spike"]
        if now >= 2 * WINDOW and np.count_nonzero(window > LOSS_CAP) >= WINDOW / 2:
            return ["high loss"]
    return []


_CAUSES = (
    "learning-rate-too-high",
    "lr-schedule-spike",
    "missing-warmup",
    "exploding-gradients",
    "resume-discontinuity",
    "data-distribution-shift",
)
RULE = Rule(
    name="llm-foundry KillLossSpike",
    source="https://github.com/mosaicml/llm-foundry/blob/main/llmfoundry/callbacks/kill_loss_spike_callback.py",
    means={
        "loss spike": meaning(*_CAUSES, "transient-loss-spike"),
        "high loss": meaning(*_CAUSES, "bad-initialisation", "unnormalised-inputs"),
    },
    judge=judge,
)
