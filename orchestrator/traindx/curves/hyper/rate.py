"""What the learning rate is, and what it did where the loss broke."""

from __future__ import annotations

import math

import numpy as np

from traindx.artifacts import Run, Series, Setting
from traindx.contract import Fact, Signal
from traindx.curves.objective import objective
from traindx.curves.place import cite
from traindx.curves.settings import cite_setting, named, optimizer, rates

# From fine-tuning recipes at the low end to the boldest that is usual for training from scratch.
USUAL = {
    "adam": (1e-5, 3e-3),
    "adamw": (1e-5, 3e-3),
    "nadam": (1e-5, 3e-3),
    "radam": (1e-5, 3e-3),
    "rmsprop": (1e-5, 3e-3),
    "lion": (1e-6, 1e-3),
    "sgd": (1e-4, 0.5),
}
# Momentum of 0.9 makes each gradient count ten times.
WITH_MOMENTUM = 0.4
FINE_TUNING = 1e-4
LOW_LOSS = 0.5


def logged_rate(run: Run) -> Series | None:
    """The learning rate that was logged most often."""
    return max((row for row in run.series if row.name == "lr" and len(row) > 1), key=len, default=None)


def in_force(found: list[Setting]) -> list[Setting]:
    """The rates that ran: in the config, or printed; defaults in the code only count where there is no other."""
    configured = [row for row in found if not row.source.endswith((".py", ".ipynb"))]
    return configured or found


def peak_rate(run: Run, rate: Series | None) -> float | None:
    """The highest rate, logged or configured."""
    if rate is not None:
        finite = rate.values[np.isfinite(rate.values)]
        return float(finite.max()) if len(finite) else None
    found = in_force(rates(run.settings))
    return max((float(row.value) for row in found), default=None)


def unusual_rate(run: Run) -> list[Signal]:
    """The largest configured rate against the usual range of its optimizer; a decade outside is half a proof."""
    found = rates(run.settings)
    kind = optimizer(run)
    if not found or kind not in USUAL:
        return []
    # What ran is in the config, or printed; the defaults in the code come last and only count where there is no other.
    top = max(in_force(found), key=lambda row: float(row.value))
    value, (low, high) = float(top.value), USUAL[kind]
    momentum = named(run.settings, "momentum")
    if kind == "sgd" and momentum is not None and float(momentum.value) >= 0.8:
        high *= WITH_MOMENTUM
    facts: dict[str, Fact] = {
        "lr": value,
        "lr_key": top.key,
        "lr_place": f"{top.source}:{top.line}",
        "optimizer": kind,
        "lr_proposed": math.sqrt(low * high),
    }
    if low <= value <= high:
        return []
    name, outside = ("lr-far-below-usual", low / value) if value < low else ("lr-far-above-usual", value / high)
    claim = f"`{top.key}` = {value:g}, where {kind} is usually given {low:g} to {high:g}"
    place = cite_setting(run, top, claim)
    # A decade outside is as clear as it gets.
    strength = min(1.0, math.log10(outside))
    return [Signal(id=name, claim=claim, strength=strength, citations=[place], facts=facts)]


def fine_tuning(run: Run, rate: Series | None) -> list[Signal]:
    """A low, flat loss at a rate for fine-tuning: the model knew the task when it started."""
    goal, peak = objective(run), peak_rate(run, rate)
    if goal is None or goal.rewarded or peak is None or peak > FINE_TUNING or not 0 < goal.shape.start < LOW_LOSS:
        return []
    claim = (
        f"a rate of {peak:g} at most, and a loss of {goal.shape.start:.4g} from the start: the task was known already"
    )
    return [Signal(id="fine-tuning-rate", claim=claim, citations=[cite(run, goal.series, 0, claim)])]
