"""Scores that tell of a model which gives everything the same class, or the same value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite
from traindx.detectors.curves.chance import is_accuracy
from traindx.detectors.curves.objective import words_of
from traindx.readers.model import Series

SIGNALS = {
    "one-class-predicted": "recall or precision is exactly zero, or accuracy never moves, while the loss does",
    "outputs-constant": "a statistic of the predictions is the same number at every evaluation",
    "accuracy-frozen": "accuracy is the same to the last digit at every evaluation",
}

FEWEST = 5
_OUTPUTS = {"pred", "preds", "prediction", "predictions", "yhat", "output", "outputs"}
_PER_CLASS = {"iou", "dice", "recall", "precision", "f1", "sensitivity", "tpr", "fscore", "mcc"}
_PHASES = {"train", "val", "valid", "test", "eval", "dev"}


def frozen(series: Sequence[Series]) -> list[Signal]:
    """A score of exactly zero beside a good accuracy, or an accuracy that is one number at every evaluation."""
    found = []
    for row in series:
        values = row.values[np.isfinite(row.values)]
        late = values[len(values) // 2 :]
        if len(values) < FEWEST or float(np.ptp(late)) > 0:
            continue
        words = words_of(row)
        facts: dict[str, Fact] = {"frozen_series": row.original, "frozen_value": float(late[0])}
        place = cite(row, len(row) - 1, f"`{row.original}` is {late[0]:g} to the end")
        of_a_class = bool(words & _PER_CLASS) or (bool(words & {"acc", "accuracy"}) and len(words - _PHASES) > 1)
        if words & _OUTPUTS and words & {"mean", "std", "var", "max"} and float(np.ptp(values[1:])) == 0.0:
            claim = f"`{row.original}` is {late[0]:g} at every evaluation: the output is the same for every input"
            found.append(Signal(id="outputs-constant", claim=claim, citations=[place], facts=facts))
        elif of_a_class and float(late[0]) == 0.0:
            claim = f"`{row.original}` is exactly 0 over the second half of the run: that class is never predicted"
            found.append(Signal(id="one-class-predicted", claim=claim, citations=[place], facts=facts))
        elif (
            is_accuracy(row.name)
            and row.phase != "train"
            and 0 < late[0] < 1
            and float(np.ptp(values)) == 0
            and not _tells_apart(series, row, float(late[0]))
        ):
            claim = f"`{row.original}` is {late[0]:g} at every one of {len(values)} evaluations"
            found.append(Signal(id="accuracy-frozen", claim=claim, citations=[place], facts=facts))
    return found


def _tells_apart(series: Sequence[Series], accuracy: Series, share: float) -> bool:
    """Whether the loss of the same data ends at less than half of what one answer for everything costs at best: the
    entropy of that share of right answers.
    """
    entropy = -share * np.log(share) - (1 - share) * np.log1p(-share)
    losses = [row for row in series if row.phase == accuracy.phase and "loss" in words_of(row) and len(row)]
    return any(0 <= row.values[-1] < entropy / 2 and row.values[0] > 2 * row.values[-1] for row in losses)


def unbalanced(series: Sequence[Series]) -> list[Signal]:
    """A high accuracy beside a balanced one that guessing would give."""
    scores = {bool(words_of(row) & {"bal", "balanced"}): row for row in series if words_of(row) & {"acc", "accuracy"}}
    balanced, plain = scores.get(True), scores.get(False)
    if balanced is None or plain is None or min(len(balanced), len(plain)) < FEWEST:
        return []
    level, shown = (float(np.median(row.values[-max(1, len(row) // 4) :])) for row in (balanced, plain))
    if not (0.45 <= level <= 0.55 and 0.85 <= shown <= 1):
        return []
    claim = f"`{balanced.original}` stays at {level:.3g} where `{plain.original}` is {shown:.3g}: one class dominates"
    facts: dict[str, Fact] = {"frozen_series": balanced.original, "frozen_value": level}
    place = cite(balanced, len(balanced) - 1, claim)
    return [Signal(id="one-class-predicted", claim=claim, citations=[place], facts=facts)]


def all_positive(series: Sequence[Series]) -> list[Signal]:
    """A recall of one beside a precision that is the accuracy: everything is called positive."""
    scores = {name: _score(series, name) for name in ("recall", "precision", "accuracy")}
    recall, precision, right = scores["recall"], scores["precision"], scores["accuracy"]
    if recall is None or precision is None or right is None:
        return []
    ends = [float(row.values[-1]) for row in (precision, right)]
    if not (recall.values[-2:] == 1.0).all() or abs(ends[0] - ends[1]) > 1e-6 or ends[0] > 0.9:
        return []
    claim = (
        f"`{recall.original}` is 1 and `{precision.original}` is the accuracy, {ends[1]:.4g}: all predicted positive"
    )
    facts: dict[str, Fact] = {"frozen_series": right.original, "frozen_value": ends[1]}
    place = cite(recall, len(recall) - 1, claim)
    return [Signal(id="one-class-predicted", claim=claim, citations=[place], facts=facts)]


def _score(series: Sequence[Series], name: str) -> Series | None:
    """The longest series of a score, training aside."""
    rows = [row for row in series if name in words_of(row) and row.phase != "train" and len(row) > 1]
    return max(rows, key=len, default=None)
