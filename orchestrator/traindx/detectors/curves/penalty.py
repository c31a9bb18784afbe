"""A penalty that makes up most of the loss."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from traindx.contract import Signal
from traindx.detectors.citing import cite, where
from traindx.detectors.curves.metric_names import words_with_digits
from traindx.detectors.curves.objective import Objective, words_of
from traindx.readers.model import Series

SIGNALS = {"penalty-dominates": "a penalty is most of the loss, and the rest of the loss does not improve"}

_PENALTIES = {"l1", "l2", "reg", "penalty", "regularization", "regularisation", "sparsity", "regloss", "wd"}
_OF_GRADIENTS = {"grad", "grads", "gradient", "gradients", "gnorm", "norm", "norms"}
_OF_BOXES = {"box", "bbox", "rpn", "cls", "obj", "dfl", "iou", "giou", "mask"}
# From here on the penalty is the larger part of what is minimised.
DOMINATES = 0.5


def detect(goal: Objective | None, series: Sequence[Series]) -> list[Signal]:
    """A penalty that makes up most of the loss, while the rest of the loss goes nowhere."""
    loss = None if goal is None or goal.rewarded else goal.series
    whole = loss is not None and loss.name == "train/loss"
    for row in series:
        own = words_with_digits(row)
        if own & _OF_GRADIENTS or row.name == "grad_norm":
            continue  # `grad_l2/out` is the length of a gradient
        if loss is None or row is loss or not own & _PENALTIES or len(row) != len(loss) or row.source != loss.source:
            continue
        boxed = own & _PENALTIES == {"reg"} and any(words_of(other) & _OF_BOXES for other in series)
        layers = own & {"l1", "l2"} and {"l3", "l4"} & {other.original.lower() for other in series}
        if row.unit or boxed or layers:
            continue  # a share of something, the regression of a box, or one of several layers
        task = loss.values - row.values if whole else loss.values
        total = loss.values if whole else loss.values + row.values
        share = row.values / np.where(total > 0, total, np.nan)
        top = int(np.nanargmax(share)) if np.isfinite(share).any() else 0
        early, late = (
            float(np.median(task[: max(1, len(task) // 10)])),
            float(np.median(task[-max(1, len(task) // 4) :])),
        )
        if not DOMINATES <= float(share[top]) <= 1 or early <= 0 or late < 0.9 * early:
            continue
        part = f"`{row.original}` is {share[top]:.0%} of the minimized loss at {where(row, top)}"
        claim = f"{part}; the rest stays at {late:.4g}"
        return [Signal(id="penalty-dominates", claim=claim, citations=[cite(row, top, claim)])]
    return []
