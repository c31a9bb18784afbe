"""How validation follows training."""

from __future__ import annotations

import numpy as np

from traindx.artifacts import Run, Series
from traindx.contract import Fact, Signal
from traindx.curves.loss import validation_of
from traindx.curves.objective import Objective
from traindx.curves.place import cite, nearest_index, where
from traindx.curves.shape import Shape, shape_of


def validation(run: Run, goal: Objective) -> list[Signal]:
    """Whether validation turned upwards while training went on, followed it, or stayed far above it."""
    loss, shape = goal.series, goal.shape
    seen_on = None if goal.rewarded else validation_of(loss, run.series)
    if seen_on is None or loss.phase in {"val", "test"} or shape.onset is not None:
        return []
    seen = shape_of(seen_on.values)
    improving = _still_falling(run, seen_on)
    if not seen.enough or seen.first_non_finite is not None:
        return improving
    best, last = seen.best_index, len(seen_on) - 1
    facts: dict[str, Fact] = {"best_at": where(seen_on, best), "val_best": seen.best, "val_end": seen.end}
    # A gap between the two is normal; overfitting is validation itself turning upwards, by more than its own wobble.
    turned = seen.onset is not None or seen.rise > max(0.1 * abs(seen.best), 4 * seen.noise, 0.03 * seen.improvement)
    if turned and best < last and _train_at(loss, seen_on, best) > shape.end:
        claim = (
            f"`{seen_on.original}` rose from {seen.best:.4g} at {facts['best_at']} to {seen.end:.4g}"
            f" while `{loss.original}` went on falling to {shape.end:.4g}"
        )
        places = [
            cite(run, seen_on, best, "the best validation loss"),
            cite(run, seen_on, last, "the validation loss at the end"),
            cite(run, loss, len(loss) - 1, "the training loss at the end"),
        ]
        strength = _overfit_strength(seen, _train_at(loss, seen_on, best), shape.end)
        return [Signal(id="val-rises-while-train-falls", claim=claim, strength=strength, citations=places, facts=facts)]
    if turned or seen.improvement <= 0:
        return improving
    claim = f"`{seen_on.original}` ended at {seen.end:.4g}, near its best {seen.best:.4g}"
    place = cite(run, seen_on, last, claim)
    found = [*improving, Signal(id="val-follows-train", claim=claim, citations=[place], facts=facts)]
    if 0 < seen.end < 0.85 * shape.end and shape.end > 0:
        said = f"`{seen_on.original}` ({seen.end:.4g}) lies well below `{loss.original}` ({shape.end:.4g})"
        found.append(Signal(id="val-better-than-train", claim=said, citations=[place]))
    if abs(seen.end - shape.end) <= 0.05 * abs(shape.end):
        said = f"`{seen_on.original}` ({seen.end:.4g}) and `{loss.original}` ({shape.end:.4g}) end at the same level"
        found.append(Signal(id="val-equals-train", claim=said, citations=[place]))
    return found


def _still_falling(run: Run, seen_on: Series) -> list[Signal]:
    """A last evaluation that is the best by far: nothing says that the next would not be better still."""
    values = seen_on.values[np.isfinite(seen_on.values)]
    if len(values) < 2 or not 0 < values[-1] < min(0.85 * values[-2], values[:-1].min()):
        return []
    claim = f"`{seen_on.original}` went from {values[-2]:.4g} to {values[-1]:.4g} at the last evaluation alone"
    return [Signal(id="val-still-falling", claim=claim, citations=[cite(run, seen_on, len(seen_on) - 1, claim)])]


def _train_at(loss: Series, seen_on: Series, best: int) -> float:
    """The training loss when validation was at its best."""
    meanwhile = (
        nearest_index(loss, float(seen_on.at[best])) if loss.axis == seen_on.axis else len(loss) * best // len(seen_on)
    )
    return float(np.median(loss.values[max(0, meanwhile - 1) : meanwhile + 2]))


def _overfit_strength(seen: Shape, train_then: float, train_now: float) -> float:
    """A quarter above the best is clear; at the noise floor a rise must also be a share of what was learned.

    A training loss that has since lost most of what was left, far below validation, is as clear.
    """
    above = seen.rise / (0.25 * max(abs(seen.best), 1e-12))
    undone = seen.rise / (0.15 * max(seen.improvement, 1e-12))
    memorised = 0.0
    if train_now > 0 and seen.end > 0:
        memorised = 0.8 * (1 - train_now / train_then) * max(0.0, 1 - train_now / seen.end) ** 2
    return float(np.clip(max(min(above, undone), memorised), 0.0, 1.0))
