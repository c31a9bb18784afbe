"""What a checkpoint alone says about gradients: Adam's moments as gradient scale per layer, and the size of updates."""

import math
import re

from pydantic import Field

from traindx.contract import Value
from traindx.detectors.checkpoints import gradient_scale
from traindx.readers import Run
from traindx.readers.checkpoints import Checkpoint, optimizer_with_moments, read_moments
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """Which checkpoint to look at."""

    checkpoint: str = Field(default="", description="path of a checkpoint; the latest with an optimizer when empty")


class Layer(Value):
    """A weight matrix: the size of its recent gradients, and of the next update relative to its weights."""

    name: str
    gradient_scale: float
    update_ratio: float | None = None


class CheckpointGradients(ToolOutput):
    """The layers from the first to the last, as the model registers them."""

    checkpoint: str
    optimizer: str
    step: int | None
    layers: list[Layer]


@tool(needs=["checkpoints"], emits=gradient_scale.SIGNALS)
def check_checkpoint_gradients(given: Input, run: Run) -> CheckpointGradients:
    """Read Adam's moments from a checkpoint, without loading it: gradient scale of every layer (do they vanish towards
    the input?) and the size of one update relative to the weights (is the learning rate too low or too high?).
    """
    checkpoint, group = _chosen(given, run)
    rows = read_moments(run.scope, checkpoint, group, run.checkpoints)
    layers = gradient_scale.measure(rows)
    if not layers:
        raise NoData(f"`{checkpoint.path}` has no readable optimizer moments of a weight matrix")
    return CheckpointGradients(
        checkpoint=checkpoint.path,
        optimizer=checkpoint.optimizers.get(group, "Adam"),
        step=layers[0].moments.step,
        layers=[
            Layer(name=row.name, gradient_scale=row.scale, update_ratio=None if math.isnan(row.ratio) else row.ratio)
            for row in layers
        ],
        signals=[
            *gradient_scale.over_depth(checkpoint, layers),
            *gradient_scale.updates(checkpoint, layers, run.settings, run.series),
        ],
    )


def _chosen(given: Input, run: Run) -> tuple[Checkpoint, str]:
    """The latest checkpoint with second moments, and the way to them."""
    named = [row for row in run.checkpoints if not given.checkpoint or row.path == given.checkpoint]
    if given.checkpoint and not named:
        known = ", ".join(f"`{row.path}`" for row in run.checkpoints) or "none"
        raise NoData(f"`{given.checkpoint}` is not a checkpoint of this run; found {known}")
    for row in sorted(named, key=lambda row: _natural(row.path), reverse=True):
        group = optimizer_with_moments(row)
        if group is not None:
            return row, group
    raise NoData("no checkpoint holds the second moments of an Adam-like optimizer (`exp_avg_sq`)")


def _natural(path: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d{1,18})", path)]
