"""Amazon SageMaker Debugger, built-in rule ExplodingTensor.

With `only_nan` False, its default: any NaN or Inf, here in the loss or a gradient.
"""

from __future__ import annotations

import numpy as np

from baselines.rule import Rule, meaning
from baselines.seen import Seen


def judge(seen: Seen) -> list[str]:
    """Look for one value that is not finite."""
    tensors = [seen.loss, *seen.gradients]
    return ["ExplodingTensor"] if any((~np.isfinite(row)).any() for row in tensors) else []


RULE = Rule(
    name="SageMaker ExplodingTensor",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/debugger-built-in-rules.html",
    means={
        "ExplodingTensor": meaning(
            "exploding-gradients",
            "non-finite-loss",
            "mixed-precision-overflow",
            "loss-scale-collapse",
            "learning-rate-too-high",
            "unguarded-math",
        )
    },
    judge=judge,
)
