"""How long a model had been trained when it was saved, as far as anything tells."""

from __future__ import annotations

import re
from collections.abc import Sequence

from traindx.readers.checkpoints import Checkpoint, Measure
from traindx.readers.model import Series

_STEPS = {
    "step",
    "steps",
    "global_step",
    "iteration",
    "iterations",
    "iter",
    "it",
    "num_updates",
    "total_steps",
    "n_iter",
}
_EPOCHS = {"epoch", "epochs", "current_epoch", "last_epoch"}
_NAMED = re.compile(
    r"(?:^|[^a-z])(?:step|steps|global_step|iter|iteration|checkpoint|ckpt|it)[-_= ]?0*(\d{1,9})(?!\d)", re.I
)
_NAMED_EPOCH = re.compile(r"(?:^|[^a-z])(?:epoch|ep|e)[-_= ]?0*(\d{1,6})(?!\d)", re.I)
_BEFORE = re.compile(
    r"(?:^|[^a-z])(?:init|initial|untrained|random|start|step[-_]?0|epoch[-_=]?0)(?:[^a-z0-9]|$)", re.I
)
PER_EPOCH = 10
"""steps that an epoch has at least, for the purpose of telling trained from untrained"""


def steps_taken(checkpoint: Checkpoint, measures: Sequence[Measure], series: Sequence[Series] = ()) -> int | None:
    """Steps behind a checkpoint, at least; None where nothing tells. What the file says counts before the log."""
    told = [*_saved(checkpoint), *_counted(measures)]
    if told:
        return max(told)
    if _BEFORE.search(checkpoint.path):
        return 0
    named = [int(found[1]) for found in _NAMED.finditer(checkpoint.path)]
    named += [PER_EPOCH * int(found[1]) for found in _NAMED_EPOCH.finditer(checkpoint.path)]
    if named:
        return max(named)
    logged = [_logged(row) for row in series if len(row)]
    return max(logged) if logged else None


def _saved(checkpoint: Checkpoint) -> list[int]:
    told: list[int] = []
    for key, value in checkpoint.scalars.items():
        last = key.rpartition(".")[2].lower()
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
            continue
        if last in _STEPS and key.count(".") <= 1:
            told.append(int(value))
        elif last in _EPOCHS and key.count(".") <= 1:
            told.append(PER_EPOCH * int(value))
    return told


def _counted(measures: Sequence[Measure]) -> list[int]:
    """The steps that an optimizer has counted."""
    return [
        int(one.highest)
        for one in measures
        if one.tensor.part == "optimizer" and one.tensor.name.endswith(".step") and 0 <= one.highest < 1e12
    ]


def _logged(row: Series) -> int:
    last = float(row.at[-1])
    if not 0 <= last < 1e12:
        return 0
    return int(last) if row.axis == "step" else PER_EPOCH * int(last) if row.axis == "epoch" else len(row)
