"""NaN and Inf in saved weights: the reason why a run that loads them cannot work, or what a broken run left behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.checkpoints.citing import cite_tensor
from traindx.readers.checkpoints import Checkpoint, Measure, Weights
from traindx.readers.model import Series

SIGNALS = {
    "weights-not-finite": "saved weights are NaN or Inf, and no finite loss was logged after which they broke",
    "weights-not-finite-after-break": "saved weights are NaN or Inf after the loss of the same run became so",
    "optimizer-not-finite": "the saved optimizer state holds NaN or Inf while the weights are finite",
}
MOST_NAMED = 3


def detect(checkpoints: Sequence[Checkpoint], weights: Mapping[str, Weights], loss: Series | None) -> list[Signal]:
    """The latest checkpoint with weights that are not finite, judged by what the run's loss did."""
    spoilt = [row for row in checkpoints if row.path in weights and _spoilt(weights[row.path], "model")]
    if not spoilt:
        return _optimizer(checkpoints, weights)
    name = "weights-not-finite-after-break" if _broke_by_itself(loss) else "weights-not-finite"
    first = spoilt[0]
    bad = _spoilt(weights[first.path], "model")
    all_of_it = [one for one in weights[first.path].measures if one.tensor.part == "model"]
    counts = _counts(bad[0])
    claim = (
        f"`{first.path}`: {len(bad)} of {len(all_of_it)} tensors hold NaN or Inf; `{bad[0].tensor.name}` has {counts}"
    )
    facts: dict[str, Fact] = {
        "checkpoint": first.path,
        "spoilt_tensors": len(bad),
        "model_tensors": len(all_of_it),
        "spoilt_tensor": bad[0].tensor.name,
        "spoilt_values": counts,
    }
    sound = [row.path for row in checkpoints if row.path in weights and row not in spoilt and row.model_groups]
    if sound:
        facts["sound_checkpoint"] = sound[-1]
    places = [cite_tensor(first, one.tensor, f"`{one.tensor.name}` has {_counts(one)}") for one in bad[:MOST_NAMED]]
    return [Signal(id=name, claim=claim, citations=places, facts=facts)]


def _optimizer(checkpoints: Sequence[Checkpoint], weights: Mapping[str, Weights]) -> list[Signal]:
    for row in checkpoints:
        bad = _spoilt(weights[row.path], "optimizer") if row.path in weights else []
        if bad:
            claim = (
                f"`{row.path}`: the optimizer's `{bad[0].tensor.name}` has {_counts(bad[0])}, the weights are finite"
            )
            facts: dict[str, Fact] = {"checkpoint": row.path, "spoilt_tensor": bad[0].tensor.name}
            places = [
                cite_tensor(row, one.tensor, f"`{one.tensor.name}` has {_counts(one)}") for one in bad[:MOST_NAMED]
            ]
            return [Signal(id="optimizer-not-finite", claim=claim, citations=places, facts=facts)]
    return []


def _spoilt(weights: Weights, part: str) -> list[Measure]:
    """NaN, or infinities that are not all negative: minus infinity alone is how masks and ruled-out scores are kept."""
    named = {one.tensor.path for one in weights.spoilt}
    return [
        one
        for one in weights.measures
        if one.tensor.path in named and one.tensor.part == part and (one.nans or one.above)
    ]


def _counts(one: Measure) -> str:
    kinds = [f"{count:,} {kind}" for count, kind in ((one.nans, "NaN"), (one.infinities, "Inf")) if count]
    return f"{' and '.join(kinds)} of {one.looked:,} values"


def _broke_by_itself(loss: Series | None) -> bool:
    """Whether the run logged finite losses and then others: the weights broke in training."""
    if loss is None or not len(loss):
        return False
    finite = np.isfinite(loss.values)
    return bool(finite.any()) and not bool(finite.all())
