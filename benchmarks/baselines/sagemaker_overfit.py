"""Amazon SageMaker Debugger, built-in rule Overfit.

(validation loss - training loss) / training loss above `ratio_threshold` (0.1), tolerated `patience` (1) times.
"""

from __future__ import annotations

import numpy as np

from baselines.rule import Rule, meaning
from baselines.seen import Seen

RATIO_THRESHOLD = 0.1
PATIENCE = 1


def judge(seen: Seen) -> list[str]:
    """Count evaluations in a row with too large a gap."""
    with np.errstate(divide="ignore", invalid="ignore"):
        gaps = (seen.val_loss - seen.train_beside_val) / seen.train_beside_val
    in_a_row = 0
    for gap in gaps:
        in_a_row = in_a_row + 1 if gap > RATIO_THRESHOLD else 0
        if in_a_row > PATIENCE:
            return ["Overfit"]
    return []


RULE = Rule(
    name="SageMaker Overfit",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/debugger-built-in-rules.html",
    means={"Overfit": meaning("overfitting")},
    judge=judge,
)
