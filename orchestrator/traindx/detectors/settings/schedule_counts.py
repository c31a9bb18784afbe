"""Where the points of a series lie in steps and in epochs, as a schedule counts them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from traindx.contract import Citation
from traindx.detectors.citing import cite_setting
from traindx.detectors.curves.shape import Numbers
from traindx.detectors.settings.scheduler_settings import Plan
from traindx.readers.model import Series


def counts(row: Series, unit: Literal["step", "epoch"], batches: float | None) -> list[Numbers]:
    """Where the points of a series may lie, counted in steps or in epochs; none where nothing tells."""
    if row.axis == unit:
        return [row.at]
    told = row.steps if unit == "step" else row.epochs
    found = [told] if told is not None and np.isfinite(told).all() else []
    # `epoch 3` may be the one under way: by the steps it is known how far into it.
    if batches is not None and row.axis != "row":
        found.append(row.at * batches if unit == "step" else row.at / batches)
    return found


def batches_per_epoch(series: Sequence[Series]) -> float | None:
    """From a series that tells both; else from the last step and the last epoch of the run."""
    for row in series:
        if row.steps is not None and row.epochs is not None and len(row) > 1:
            both = np.isfinite(row.steps) & np.isfinite(row.epochs)
            if both.sum() > 1:
                return _ratio(float(row.steps[both].max()), row.epochs[both])
    steps = [float(row.at.max()) for row in series if row.axis == "step" and len(row)]
    epochs = [row.at for row in series if row.axis == "epoch" and len(row)]
    return _ratio(max(steps), np.concatenate(epochs)) if steps and epochs else None


def _ratio(last: float, epochs: Numbers) -> float | None:
    """Steps per epoch; whole epochs that begin with 0 are one more than the last of them says."""
    whole = bool((epochs == np.floor(epochs)).all()) and float(epochs.min()) == 0
    count = float(epochs.max()) + whole
    return last / count if count > 0 and last / count > 1 else None


def cite_plan(plan: Plan) -> list[Citation]:
    """The settings that a plan was read from, four places at most."""
    places = [cite_setting(row, f"`{row.key}` = {row.value}") for row in plan.settings]
    return list({(place.source, place.locator): place for place in places}.values())[:4]
