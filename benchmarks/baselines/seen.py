"""What a published rule gets to see of a run: our own reading of its curves and settings, so that only judging differs.

The rules were written to run inside a training. Here they get what was logged: what was not logged is not judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from traindx.detectors.curves.chance import class_count, is_accuracy
from traindx.detectors.curves.loss import main_loss, validation_of
from traindx.detectors.curves.objective import words_of
from traindx.detectors.curves.series import by_layer
from traindx.detectors.settings.lookup import named, rates
from traindx.readers import Run, Scope, Series

Numbers = npt.NDArray[np.float64]
GRADIENTS = ("grad", "grads", "gradient", "gradients", "gn", "gnorm", "gradnorm")
# A norm over n weights is sqrt(n) times their root mean square; a layer of ten thousand weights is a usual one.
WEIGHTS_ROOT = 100.0
NOTHING: Numbers = np.array([])


@dataclass(frozen=True)
class Seen:
    """The curves and settings that published rules ask for; what a run does not have is empty."""

    loss: Numbers
    steps: Numbers
    """the step of each loss; of epochs, whose steps are unknown, the number of the epoch"""
    by_epoch: bool
    val_loss: Numbers
    train_beside_val: Numbers
    """the training loss at each evaluation"""
    train_accuracy: Numbers
    val_accuracy: Numbers
    gradients: list[Numbers]
    """the mean absolute gradient over time, estimated from norms: of each layer from input to output, or of all"""
    idle: list[Numbers]
    """shares of units that do not fire, or of gradients that are zero"""
    updates: list[Numbers]
    """logged ratios of update to weight"""
    rates: list[float]
    dropout: float
    classes: float


def see(path: Path) -> Seen:
    """Read a run folder, or one log, with traindx' readers."""
    run = Run(Scope.of(path))
    series = [row for row in run.series if not row.duplicate_of]
    loss = main_loss(series)
    val = None if loss is None or loss.phase in {"val", "test"} else validation_of(loss, series)
    scored = [row for row in series if is_accuracy(row.name) and len(row) > 1]
    logged = [row.values for row in series if row.name == "lr"]
    dropout, classes = named(run.settings, "dropout", "dropout_rate", "p_drop", "drop_rate"), class_count(run)
    return Seen(
        loss=NOTHING if loss is None else loss.values,
        steps=NOTHING if loss is None else loss.at,
        by_epoch=loss is not None and loss.axis == "epoch",
        val_loss=NOTHING if val is None else val.values,
        train_beside_val=NOTHING if val is None or loss is None else _beside(loss, val),
        train_accuracy=_accuracy([row for row in scored if row.phase in {"train", ""}]),
        val_accuracy=_accuracy([row for row in scored if row.phase in {"val", "test"}]),
        gradients=[row.values / WEIGHTS_ROOT for row in _gradients(series)],
        idle=[*_shares(series, {"dead", "zero", "zeros", "inactive"}, False), *_shares(series, {"active"}, True)],
        updates=[row.values for row in series if "update" in words_of(row) and "ratio" in words_of(row)],
        rates=[float(np.nanmax(row)) for row in logged] or [float(row.value) for row in rates(run.settings)],
        dropout=float(dropout.value) if dropout is not None else 0.0,
        classes=float(classes.value) if classes is not None else 0.0,
    )


def _beside(loss: Series, val: Series) -> Numbers:
    """The mean training loss since the evaluation before, as trainers report it."""
    if loss.axis != val.axis:
        ends = np.linspace(0, len(loss), len(val) + 1)[1:].astype(int)
    else:
        ends = np.searchsorted(loss.at, val.at, side="right")
    starts = np.concatenate([[0], ends[:-1]])
    parts = [loss.values[min(a, b - 1) : b] if b > 0 else loss.values[:1] for a, b in zip(starts, ends, strict=True)]
    return np.array([np.mean(part) if len(part) else np.nan for part in parts])


def _accuracy(rows: list[Series]) -> Numbers:
    longest = max(rows, key=len, default=None)
    if longest is None:
        return NOTHING
    values = longest.values[np.isfinite(longest.values)]
    return values / 100 if len(values) and float(values.max()) > 1 else values


def _gradients(series: list[Series]) -> list[Series]:
    layers = by_layer(series, *GRADIENTS)
    return layers or [row for row in series if row.name == "grad_norm"]


def _shares(series: list[Series], words: set[str], turned: bool) -> list[Numbers]:
    found = [row.values for row in series if words_of(row) & words and len(row)]
    shares = [row for row in found if np.nanmin(row) >= 0 and np.nanmax(row) <= 1]
    return [1 - row if turned else row for row in shares]
