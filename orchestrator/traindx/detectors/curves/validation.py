"""How validation follows training."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.checkpoints.saved_at import saved_at
from traindx.detectors.citing import cite, moment, where
from traindx.detectors.curves.loss import validation_of
from traindx.detectors.curves.objective import Objective, measured
from traindx.detectors.curves.shape import Shape, shape_of
from traindx.detectors.curves.untrained import better_untrained
from traindx.readers.model import Series

SIGNALS = {
    "val-rises-while-train-falls": "validation loss rises from its best while training loss keeps falling",
    "val-follows-train": "validation loss ended near its best",
    "val-still-falling": "validation loss fell a lot at the last evaluation alone",
    "val-better-than-train": "validation loss ends well below training loss",
    "val-equals-train": "validation and training loss ended at the same level",
    "val-restless": "validation loss jumps up and down while training loss is flat",
}

FEWEST = 5
LEAST_SHARE = 0.25
CLEAR = 0.7
DENSE = 200
BY_HEART = 0.1
"""what a memorised training loss is of the validation loss, at most"""


def detect(goal: Objective, series: Sequence[Series], checkpoints: Sequence[str] = ()) -> list[Signal]:
    """Whether validation turned upwards while training went on, followed it, or stayed far above it.

    `checkpoints` are the files in which weights were saved: a fix may name only one that is there.
    """
    return [_with_checkpoint(signal, checkpoints) for signal in _detect(goal, series)]


def _with_checkpoint(signal: Signal, checkpoints: Sequence[str]) -> Signal:
    axis, position = str(signal.facts.get("best_at", "")).partition(" ")[0], signal.facts.get("best_position")
    saved = saved_at(checkpoints, axis, float(position)) if isinstance(position, float) else None
    return signal if saved is None else signal.model_copy(update={"facts": {**signal.facts, "best_checkpoint": saved}})


def _detect(goal: Objective, series: Sequence[Series]) -> list[Signal]:
    loss, shape = goal.series, goal.shape
    parts = _memorised_parts(series, loss) if not goal.rewarded and shape.onset is None else []
    if parts:
        return parts
    seen_on = None if goal.rewarded else validation_of(loss, series)
    if seen_on is None or loss.phase in {"val", "test"} or shape.onset is not None:
        return []
    if better_untrained(goal, series) is not None:
        return _still_falling(seen_on)
    return _followed(goal, seen_on)


def _followed(goal: Objective, seen_on: Series) -> list[Signal]:
    loss, shape = goal.series, goal.shape
    seen = shape_of(seen_on.values)
    improving = _still_falling(seen_on)
    if not seen.enough or seen.first_non_finite is not None:
        return improving
    improving += _restless(goal, seen_on)
    best, last = seen.best_index, len(seen_on) - 1
    val_best, val_end = float(seen_on.values[best]), float(seen_on.values[last])
    facts: dict[str, Fact] = {
        "best_at": where(seen_on, best),
        "best_position": float(seen_on.at[best]),
        "val_best": val_best,
        "val_end": val_end,
        "best_share": (best + 1) / len(seen_on),
    }
    if seen_on.axis != "row":
        # Counted from 0 or from 1: how many epochs or steps it takes to get there.
        begins = 1 if seen_on.axis == "epoch" and float(seen_on.at[0]) < 1 and len(seen_on) > 1 else 0
        facts[f"best_{seen_on.axis}s"] = math.ceil(float(seen_on.at[best])) + begins
    # A gap between the two is normal; overfitting is validation itself turning upwards, by more than its own wobble.
    # Where training has memorised its samples, a smaller turn is enough.
    share = 0.04 if 0 < shape.end < BY_HEART * seen.end else 0.1
    turned = seen.onset is not None or seen.rise > max(share * abs(seen.best), 4 * seen.noise, 0.03 * seen.improvement)
    if turned and best < last and _train_at(loss, seen_on, best) > shape.end and _went_on(loss, seen_on, best):
        claim = (
            f"`{seen_on.original}` rose from {val_best:.4g} at {facts['best_at']} to {val_end:.4g}"
            f" while `{loss.original}` kept falling to {loss.values[-1]:.4g}"
        )
        places = [
            cite(seen_on, best, "the best validation loss"),
            cite(seen_on, last, "the validation loss at the end"),
            cite(loss, len(loss) - 1, "the training loss at the end"),
        ]
        strength = _overfit_strength(seen, _train_at(loss, seen_on, best), shape.end)
        return [Signal(id="val-rises-while-train-falls", claim=claim, strength=strength, citations=places, facts=facts)]
    if turned or seen.improvement <= 0:
        return improving
    claim = f"`{seen_on.original}` ended at {val_end:.4g}, near its best {np.min(seen_on.values):.4g}"
    place = cite(seen_on, last, claim)
    found = [*improving, Signal(id="val-follows-train", claim=claim, citations=[place], facts=facts)]
    if 0 < seen.end < 0.85 * shape.end and shape.end > 0:
        said = f"`{seen_on.original}` ({val_end:.4g}) is well below `{loss.original}` ({goal.last:.4g})"
        found.append(Signal(id="val-better-than-train", claim=said, citations=[place]))
    if abs(seen.end - shape.end) <= 0.05 * abs(shape.end):
        said = f"`{seen_on.original}` ({val_end:.4g}) and `{loss.original}` ({goal.last:.4g}) end at the same level"
        found.append(Signal(id="val-equals-train", claim=said, citations=[place]))
    return found


def _memorised_parts(series: Sequence[Series], loss: Series) -> list[Signal]:
    """Where a loss has parts (`box_loss`, `cls_loss`), each with its validation: the one that overfits."""
    rows = [row for row in series if row.source == loss.source and row.name.endswith("_loss") and len(row) > FEWEST]
    seen = {row.name.partition("/")[2]: row for row in rows if row.phase == "val"}
    pairs = [(row, seen[name]) for row in rows if row.phase == "train" and (name := row.name.partition("/")[2]) in seen]
    # A part counts by its share in what is minimised: one that hardly adds to the sum may rise.
    whole = sum(abs(float(held_out.values[-1])) for _, held_out in pairs)
    for row, held_out in pairs if len(pairs) > 1 else []:
        one = measured(row)
        clean = np.isfinite(held_out.values).all() and one.shape.broke is None
        if row is loss or not clean or abs(float(held_out.values[-1])) < LEAST_SHARE * whole:
            continue
        found = [signal for signal in _followed(one, held_out) if signal.id == "val-rises-while-train-falls"]
        if found and found[0].strength >= CLEAR:
            return found
    return []


def _still_falling(seen_on: Series) -> list[Signal]:
    """A last evaluation that is the best by far: nothing says that the next would not be better still."""
    values = seen_on.values[np.isfinite(seen_on.values)]
    if len(values) < 2 or not 0 < values[-1] < min(0.85 * values[-2], values[:-1].min()):
        return []
    claim = f"`{seen_on.original}` went from {values[-2]:.4g} to {values[-1]:.4g} at the last evaluation alone"
    return [Signal(id="val-still-falling", claim=claim, citations=[cite(seen_on, len(seen_on) - 1, claim)])]


def _restless(goal: Objective, seen_on: Series) -> list[Signal]:
    """Validation that jumps up and down over the second half while training stands still: the weights do not settle."""
    half = seen_on.values[len(seen_on) // 2 :]
    late = goal.costs[len(goal) // 2 :]
    late = late[np.isfinite(late)]
    if len(half) < 5 or len(late) < 5 or not np.isfinite(half).all() or float(np.median(half)) <= 0:
        return []
    swing = float(np.percentile(half, 90) - np.percentile(half, 10))
    drift = abs(float(np.mean(half[: len(half) // 2]) - np.mean(half[len(half) // 2 :])))
    early_level, late_level = (float(np.median(part)) for part in np.array_split(late, 2))
    if (
        swing < 0.3 * float(np.median(half))
        or drift > 0.5 * swing
        or early_level - late_level > 0.05 * abs(early_level)
    ):
        return []
    claim = f"`{seen_on.original}` jumps between {half.min():.4g} and {half.max():.4g} over the second half of the run"
    return [Signal(id="val-restless", claim=claim, citations=[cite(seen_on, len(seen_on) - 1, claim)])]


def _went_on(loss: Series, seen_on: Series, best: int) -> bool:
    """Whether training, on average, fell after validation was best: single noisy losses may have a low median."""
    since = loss.values[moment(loss, seen_on, best) :]
    since = since[np.isfinite(since)]
    if len(since) < DENSE:
        return True
    quarters = np.array_split(since, 4)
    early, late = quarters[0], quarters[-1]
    slack = float(np.std(since)) * float(2 / len(early)) ** 0.5
    return bool(float(np.mean(early) - np.mean(late)) > slack)


def _train_at(loss: Series, seen_on: Series, best: int) -> float:
    """The training loss when validation was at its best."""
    meanwhile = moment(loss, seen_on, best)
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
