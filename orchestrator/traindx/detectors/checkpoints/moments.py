"""Optimizer state that no training leaves behind: second moments below zero, NaN where a run went on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.checkpoints.citing import cite_tensor
from traindx.detectors.citing import cite, where
from traindx.readers.checkpoints import Checkpoint, Measure, Weights
from traindx.readers.model import Series

SIGNALS = {
    "second-moments-negative": "the saved optimizer holds averages of squares below zero, which no training can give",
    "resumed-from-spoilt-optimizer": (
        "the run went on from a checkpoint whose optimizer state is NaN or Inf, and its finite loss broke at once"
    ),
}
AT_ONCE = 3
"""logged values after a resumption within which a spoilt state shows: the first is computed before any step"""
_COUNTERS = {
    "step": frozenset({"step", "global_step", "iteration", "iter", "it", "num_updates", "update", "steps"}),
    "epoch": frozenset({"epoch", "current_epoch", "last_epoch"}),
}
_SQUARES = re.compile(
    r"(?:^|[._/\[\]'\"])(?:exp_avg_sq|max_exp_avg_sq|square_avg|exp_avg_sq_(?:row|col))(?:$|[._/\]'\"])"
)


def detect(checkpoints: Sequence[Checkpoint], weights: Mapping[str, Weights], loss: Series | None) -> list[Signal]:
    """The latest checkpoint of each kind."""
    read = [(row, [one for one in weights[row.path].measures if one.tensor.part == "optimizer"])
            for row in checkpoints if row.path in weights]  # fmt: skip
    found = []
    for row, measures in read:
        negative = [one for one in measures if _SQUARES.search(one.tensor.path) and _real(one) and one.lowest < 0]
        if negative:
            name, lowest = negative[0].tensor.path, negative[0].lowest
            claim = f"`{row.path}`: `{name}`, an average of squares, goes down to {lowest:.3g}"
            found.append(_signal("second-moments-negative", row, negative, claim, read))
            break
    for row, measures in read:
        spoilt = [one for one in measures if one.nans or one.above]
        broke = _breaks_at(loss, _counts(row, loss.axis)) if spoilt and loss is not None else None
        if broke is not None and loss is not None:
            counts = f"{spoilt[0].nans:,} NaN and {spoilt[0].infinities:,} Inf"
            claim = (
                f"the run went on from `{row.path}`, whose optimizer state `{spoilt[0].tensor.path}` holds {counts},"
                f" and its loss is lost at {where(loss, broke)}"
            )
            signal = _signal("resumed-from-spoilt-optimizer", row, spoilt, claim, read)
            places = [*signal.citations, cite(loss, broke, "the first loss after a step with that state")]
            found.append(signal.model_copy(update={"citations": places}))
            break
    return found


def _real(one: Measure) -> bool:
    """Whether its numbers are stored as they are: states of 8 bits are codes."""
    return "float" in one.tensor.dtype.lower() and "float8" not in one.tensor.dtype.lower()


def _counts(checkpoint: Checkpoint, axis: str) -> set[int]:
    """How far the run had come when it was saved, as the file says."""
    names = _COUNTERS.get(axis, frozenset())
    told = [(key.rpartition(".")[2].lower(), value) for key, value in checkpoint.scalars.items()]
    return {value for name, value in told if name in names and isinstance(value, int) and value > 0}


def _breaks_at(loss: Series, counts: set[int]) -> int | None:
    """The first value that is not finite, right behind the place where the run went on from one of these counts."""
    broken = np.flatnonzero(~np.isfinite(loss.values))
    if not counts or not len(broken) or not broken[0]:
        return None
    first = int(broken[0])
    begins = [place for place in (0, *loss.restarts) if place < first <= place + AT_ONCE]
    return first if any(abs(float(loss.at[place]) - count) <= 1 for place in begins for count in counts) else None


def _signal(
    name: str, row: Checkpoint, bad: Sequence[Measure], claim: str, read: Sequence[tuple[Checkpoint, Sequence[Measure]]]
) -> Signal:
    facts: dict[str, Fact] = {"checkpoint": row.path, "spoilt_tensor": bad[0].tensor.path, "spoilt_state": claim}
    sound = [other.path for other, measures in read if measures and not any(map(_doubtful, measures))]
    if sound:
        facts["sound_checkpoint"] = sound[0]
    places = [cite_tensor(row, one.tensor, f"`{one.tensor.path}`: lowest {one.lowest:.3g}, {one.nans:,} NaN")
              for one in bad[:2]]  # fmt: skip
    return Signal(id=name, claim=claim, citations=places, facts=facts)


def _doubtful(one: Measure) -> bool:
    return bool(one.nans or one.above or (_SQUARES.search(one.tensor.path) and _real(one) and one.lowest < 0))
