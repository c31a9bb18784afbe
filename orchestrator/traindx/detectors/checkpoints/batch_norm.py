"""The running statistics of batch norm: never updated, or without any variance."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.contract import Fact, Signal
from traindx.detectors.checkpoints.citing import cite_tensor
from traindx.readers.checkpoints import Checkpoint, Measure

SIGNALS = {
    "batchnorm-never-updated": "the running statistics of every batch norm are those of a fresh layer after training",
    "batchnorm-variance-zero": "the running variance of a batch norm is zero in every channel",
}
ENOUGH_STEPS = 20


def detect(checkpoint: Checkpoint, measures: Sequence[Measure], steps: int | None) -> list[Signal]:
    """What the buffers of all batch norms of a model say."""
    own = [one for one in measures if one.tensor.part == "model"]
    variances = [one for one in own if one.tensor.name.endswith("running_var") and one.looked > 1]
    means = {one.tensor.path: one for one in own if one.tensor.name.endswith("running_mean")}
    found = []
    flat = [one for one in variances if one.constant and one.highest == 0]
    if flat:
        claim = f"`{flat[0].tensor.name}` is 0 in all {flat[0].looked} channels: its inputs never varied"
        facts: dict[str, Fact] = {"statistic": flat[0].tensor.name, "checkpoint": checkpoint.path}
        place = cite_tensor(checkpoint, flat[0].tensor, claim)
        found.append(Signal(id="batchnorm-variance-zero", claim=claim, citations=[place], facts=facts))
    fresh = [one for one in variances if one.constant and one.lowest == 1 and _is_fresh(one, means)]
    if variances and len(fresh) == len(variances) and steps is not None and steps >= ENOUGH_STEPS:
        claim = (
            f"after {steps:,} steps the running mean is 0 and the running variance 1 in all {len(fresh)} batch norms of"
            f" `{checkpoint.path}`: they never saw a batch in training mode"
        )
        facts = {"statistic": fresh[0].tensor.name, "checkpoint": checkpoint.path, "steps": steps}
        place = cite_tensor(checkpoint, fresh[0].tensor, claim)
        found.append(Signal(id="batchnorm-never-updated", claim=claim, citations=[place], facts=facts))
    return found


def _is_fresh(variance: Measure, means: dict[str, Measure]) -> bool:
    mean = means.get(variance.tensor.path.replace("running_var", "running_mean"))
    return mean is not None and mean.constant and mean.highest == 0
