"""UMLAUT (Schoop et al., CHI 2021), the checks of its `heuristics.py` that logs and settings can show.

NaN loss; learning rate above 0.01 or below 1e-7; an epoch in which validation loss rises and training loss does not;
from the fourth epoch on a validation accuracy above 0.95, or 0.05 above that of training; dropout above 0.5. Its checks
of the input's range and type and of a missing softmax or activation need the live model.
"""

from __future__ import annotations

import numpy as np

from baselines.rule import Rule, meaning
from baselines.seen import Seen

LOWEST_RATE, HIGHEST_RATE = 1e-7, 0.01
MOST_DROPOUT = 0.5
GOOD_TO_BE_TRUE, TOO_FAR_AHEAD, FIRST_EPOCHS = 0.95, 0.05, 3


def judge(seen: Seen) -> list[str]:
    """All checks that fail, in the order in which UMLAUT makes them."""
    found = ["high dropout"] if seen.dropout > MOST_DROPOUT else []
    found += ["NaN loss"] if np.isnan(seen.loss).any() else []
    found += ["rate too high"] if any(rate > HIGHEST_RATE for rate in seen.rates) else []
    found += ["rate too low"] if any(0 < rate < LOWEST_RATE for rate in seen.rates) else []
    rises, falls = np.diff(seen.val_loss) > 0, np.diff(seen.train_beside_val) <= 0
    found += ["overfitting"] if (rises & falls).any() else []
    shared = min(len(seen.val_accuracy), len(seen.train_accuracy))
    late = seen.val_accuracy[FIRST_EPOCHS:]
    ahead = seen.val_accuracy[FIRST_EPOCHS:shared] - seen.train_accuracy[FIRST_EPOCHS:shared]
    suspicious = (late > GOOD_TO_BE_TRUE).any() or (ahead > TOO_FAR_AHEAD).any()
    return [*found, *(["validation accuracy too good"] if suspicious else [])]


RULE = Rule(
    name="UMLAUT",
    source="https://github.com/BerkeleyHCI/umlaut",
    means={
        "high dropout": meaning("over-regularised"),
        "NaN loss": meaning(
            "non-finite-loss",
            "exploding-gradients",
            "mixed-precision-overflow",
            "loss-scale-collapse",
            "unguarded-math",
            "learning-rate-too-high",
        ),
        "rate too high": meaning("learning-rate-too-high", "lr-schedule-spike", "missing-warmup"),
        "rate too low": meaning("learning-rate-too-low", "lr-decayed-to-zero"),
        "overfitting": meaning("overfitting"),
        "validation accuracy too good": meaning("train-val-leakage", "evaluating-on-train", "class-imbalance"),
    },
    judge=judge,
)
