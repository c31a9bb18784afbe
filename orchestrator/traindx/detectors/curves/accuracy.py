"""What accuracy, or R2, says about how much was learned."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from traindx.contract import Signal
from traindx.detectors.citing import cite, where
from traindx.detectors.curves.chance import is_accuracy, is_r2
from traindx.detectors.curves.objective import Objective
from traindx.readers.model import Series, Setting

SIGNALS = {
    "val-accuracy-lags": "the training set is memorized, and accuracy on other data stays far behind",
    "accuracy-lost": "training accuracy was reached and lost again",
    "accuracy-high": "accuracy, or R2, is above 0.9 at the end",
    "accuracy-low-in-training": "accuracy on the training data itself stays low",
    "negative-loss-at-chance": "the loss goes below zero, and accuracy on the same data does not rise",
}

HIGH = 0.9
# Between guessing and this, a classifier that has stopped learning has not understood its own training data.
LOW = 0.75
BY_HEART = 0.97
BEHIND = 0.15
FEWEST = 5
# An accuracy that a classifier of any use leaves behind, and the noise of one that does not move.
POOR, SLACK = 0.5, 0.02


def detect(goal: Objective, series: Sequence[Series], classes: Setting | None, chance: Signal | None) -> list[Signal]:
    """Whether the end of training is good or poor in absolute terms; the loss alone cannot tell.

    `chance` is what `chance.at_chance` found.
    """
    if goal.shape.broke is not None:
        return []
    measured = [row for row in series if (is_accuracy(row.name) or is_r2(row)) and np.isfinite(row.values).any()]
    # The training data's own accuracy where it is known: validation may be lower for other reasons.
    row = max(measured, key=lambda row: (row.phase in {"train", ""}, len(row)), default=None)
    if row is None:
        return []
    behind = _upside_down(goal, row) or _lagging(measured) or _lost(row)
    if behind:
        return behind
    end = _end(row)
    shown = f"`{row.original}` ends at {row.values[np.isfinite(row.values)][-1]:.4g}"
    place = cite(row, len(row) - 1, shown)
    if end >= HIGH:
        return [Signal(id="accuracy-high", claim=shown, citations=[place])]
    guessing = 0.0 if is_r2(row) else 1 / float(classes.value) if classes is not None else 0.1
    if guessing * 1.3 < end < LOW and row.phase in {"train", ""} and chance is None:
        facts = {"train_accuracy": round(end, 4)}
        strength = min(1.0, (LOW - end) / 0.4)
        return [Signal(id="accuracy-low-in-training", claim=shown, strength=strength, citations=[place], facts=facts)]
    return []


def _lagging(measured: list[Series]) -> list[Signal]:
    """Training data known by heart, and an accuracy on other data that stays far behind."""
    scores = [row for row in measured if is_accuracy(row.name) and len(row) >= FEWEST]
    train = next((row for row in scores if row.phase in {"train", ""}), None)
    held_out = next((row for row in scores if row.phase in {"val", "test"}), None)
    if train is None or held_out is None or _end(train) < BY_HEART or _end(train) - _end(held_out) < BEHIND:
        return []
    gap = _end(train) - _end(held_out)
    claim = f"`{train.original}` ends at {_end(train):.3g}, `{held_out.original}` at {_end(held_out):.3g}"
    places = [cite(row, len(row) - 1, claim) for row in (train, held_out)]
    return [Signal(id="val-accuracy-lags", claim=claim, strength=min(1.0, gap / 0.25), citations=places)]


def _upside_down(goal: Objective, row: Series) -> list[Signal]:
    """A loss far below zero beside an accuracy that gains nothing: it is made larger in the wrong direction.

    Densities and critics have negative losses too, but no accuracy that stays low meanwhile.
    """
    loss = goal.series
    values, finite = loss.values[np.isfinite(loss.values)], row.values[np.isfinite(row.values)]
    if not is_accuracy(row.name) or min(len(values), len(finite)) < FEWEST or loss.phase not in {"train", ""}:
        return []
    scale = 100.0 if float(finite.max()) > 1.0 else 1.0
    low = _end(row) < POOR and _end(row) <= float(finite[0]) / scale + SLACK
    if not low or values[-1] >= min(0.0, values[0]) - 1.0 or np.median(values) >= 0:
        return []
    claim = f"`{loss.original}` goes to {values[-1]:.4g}, and `{row.original}` ends at {finite[-1]:.4g}"
    places = [cite(one, len(one) - 1, claim) for one in (loss, row)]
    return [
        Signal(id="negative-loss-at-chance", claim=claim, citations=places, facts={"negative_loss": float(values[-1])})
    ]


def _lost(row: Series) -> list[Signal]:
    """An accuracy in training that was there and is gone: not a net that cannot learn, but one that was thrown out."""
    finite = row.values[np.isfinite(row.values)]
    if row.phase not in {"train", ""} or is_r2(row) or len(finite) < FEWEST:
        return []
    top = int(np.argmax(row.values == finite.max()))
    scale = 100.0 if float(finite.max()) > 1.0 else 1.0
    best, late = float(finite.max()) / scale, float(finite[-max(2, len(finite) // 3) :].max()) / scale
    if late > 0.5 * best or best - late < BEHIND:
        return []
    claim = f"`{row.original}` was {row.values[top]:.4g} at {where(row, top)} and ends at {finite[-1]:.4g}"
    places = [cite(row, top, "the best accuracy"), cite(row, len(row) - 1, "the accuracy at the end")]
    return [Signal(id="accuracy-lost", claim=claim, citations=places)]


def _end(row: Series) -> float:
    finite = row.values[np.isfinite(row.values)]
    end = float(np.median(finite[-max(1, len(finite) // 10) :]))
    return end / 100 if float(finite.max()) > 1.0 else end
