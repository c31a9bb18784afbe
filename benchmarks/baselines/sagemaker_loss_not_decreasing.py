"""Amazon SageMaker Debugger, built-in rule LossNotDecreasing.

Every `num_steps` (10) the loss is compared with the latest one at least ten steps before. It must have fallen by
`diff_percent` (0.1 %); where it rose, by no more than `increase_threshold_percent` (5 %). One failed comparison raises
the issue. An epoch is more than ten steps.
"""

from __future__ import annotations

from baselines.rule import Rule, meaning
from baselines.seen import Seen

NUM_STEPS = 10
DIFF_PERCENT = 0.1
INCREASE_THRESHOLD_PERCENT = 5.0


def judge(seen: Seen) -> list[str]:
    """Go through the run in strides of ten steps, or of one point where points lie further apart."""
    apart = 1 if seen.by_epoch else NUM_STEPS
    before = 0
    for now in range(1, len(seen.loss)):
        if 0 <= seen.steps[now] - seen.steps[before] < apart:
            continue
        old, new = float(seen.loss[before]), float(seen.loss[now])
        fallen = 100 * (old - new) / abs(old) if old else 0.0
        if fallen < -INCREASE_THRESHOLD_PERCENT or 0 <= fallen < DIFF_PERCENT:
            return ["LossNotDecreasing"]
        before = now
    return []


RULE = Rule(
    name="SageMaker LossNotDecreasing",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/loss-not-decreasing.html",
    means={
        "LossNotDecreasing": meaning(
            "plateau-at-chance",
            "underfitting",
            "learning-rate-too-low",
            "learning-rate-too-high",
            "lr-decayed-to-zero",
            "vanishing-gradients",
            "over-regularised",
            "over-clipped-gradients",
        )
    },
    judge=judge,
)
