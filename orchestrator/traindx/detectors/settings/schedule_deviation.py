"""The logged learning rate against the one that config and code plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite, where
from traindx.detectors.curves.shape import Numbers
from traindx.detectors.settings.schedule_counts import cite_plan, counts
from traindx.detectors.settings.scheduler_settings import Plan
from traindx.readers.model import Series

SIGNALS = {
    "schedule-as-planned": "the logged learning rate follows the schedule that the settings describe",
    "schedule-differs": "the logged learning rate is not the one that the settings describe",
    "schedule-stepped-at-wrong-rate": "the schedule is stepped per batch where epochs are meant, or the reverse",
}

# A tenth is more than rounding and less than any two schedules differ by.
DEVIATION = 0.1
# Next to zero every ratio is large: below a hundredth of the peak differences count as such.
NEXT_TO_ZERO = 0.01
MOST_DEVIATING = 0.25
FEWEST = 5
# Batches per epoch that are tried where nothing tells them.
TRIED = np.unique(np.geomspace(2, 20_000, 400).round())
MONOTONE = {"StepLR", "MultiStepLR", "ExponentialLR", "linear"}


def comparable_rate(series: Sequence[Series]) -> Series | None:
    """The longest logged rate, if it has points enough to be laid over a plan."""
    return max((row for row in series if row.name == "lr" and len(row) >= FEWEST), key=len, default=None)


def fit(plan: Plan, logged: Series, batches: float | None) -> tuple[float, Numbers] | None:
    """The share of logged rates off the plan, and the plan at their points; None where their counts do not relate.

    With the unit of the plan where it is known, else with the one that fits better.
    """
    units: list[Literal["step", "epoch"]] = [plan.unit] if plan.unit else ["step", "epoch"]
    tried = [_best_fit(plan, count, logged.values) for unit in units for count in counts(logged, unit, batches)]
    return min(tried, key=lambda fit: fit[0]) if tried else None


def detect(plan: Plan, logged: Series, share: float, expected: Numbers, batches: float | None) -> list[Signal]:
    """Whether the log follows the plan; `share` and `expected` are what `fit` found."""
    if share <= MOST_DEVIATING:
        claim = f"the logged rate follows the {plan.kind} that the settings describe"
        place = cite(logged, len(logged) - 1, claim)
        return [Signal(id="schedule-as-planned", claim=claim, citations=[place])]
    if plan.certain and plan.unit:
        return [_differs(plan, logged, expected, share), *_swapped(plan, logged, plan.unit, batches)]
    return []


def _best_fit(plan: Plan, count: Numbers, values: Numbers) -> tuple[float, Numbers]:
    """The share of points off the plan, and the plan: rates are logged before or after the step, from 0 or from 1."""
    fits = [(_off(plan.at(count + shift), values), shift) for shift in (0.0, -1.0, 1.0)]
    share, shift = min(fits, key=lambda fit: fit[0])
    return share, plan.at(count + shift)


def _off(expected: Numbers, values: Numbers) -> float:
    finite = np.isfinite(values) & np.isfinite(expected)
    if not finite.any():
        return 1.0
    wanted, seen = expected[finite], values[finite]
    room = np.maximum(DEVIATION * np.abs(wanted), NEXT_TO_ZERO * float(np.abs(wanted).max()))
    return float(np.mean(np.abs(seen - wanted) > room))


def _differs(plan: Plan, logged: Series, expected: Numbers, share: float) -> Signal:
    with np.errstate(all="ignore"):
        gap = np.where(np.isfinite(logged.values), np.abs(logged.values - expected), 0.0)
    worst = int(np.argmax(gap))
    claim = (
        f"{share:.0%} of the logged rates differ from the {plan.kind} of the settings: {logged.values[worst]:.3g} at"
        f" {where(logged, worst)}, where {expected[worst]:.3g} is planned"
    )
    facts: dict[str, Fact] = {
        "lr_logged": float(logged.values[worst]),
        "lr_planned": float(expected[worst]),
        "schedule": plan.kind,
        "deviating_share": share,
    }
    places = [cite(logged, worst, f"the logged rate is {logged.values[worst]:.3g}"), *cite_plan(plan)]
    return Signal(id="schedule-differs", claim=claim, strength=min(1.0, 0.4 + share), citations=places, facts=facts)


def _swapped(plan: Plan, logged: Series, meant: Literal["step", "epoch"], batches: float | None) -> list[Signal]:
    """Whether the log fits the plan once its unit is taken for the other one."""
    other = counts(logged, "step" if meant == "epoch" else "epoch", batches)
    fits = [_best_fit(plan, count, logged.values)[0] for count in other]
    if not other and meant == logged.axis == "epoch" and plan.kind in MONOTONE:
        few = np.unique(np.linspace(0, len(logged) - 1, 200).astype(int))
        fits = [_best_fit(plan, logged.at[few] * tried, logged.values[few])[0] for tried in TRIED]
    if not fits or min(fits) > DEVIATION or float(np.ptp(logged.values)) <= 0:
        return []
    numbers, call = ("epochs", "batch") if meant == "epoch" else ("steps", "epoch")
    claim = (
        f"the logged rate is the {plan.kind} of the settings stepped once per {call}, but its numbers count {numbers}"
    )
    last = len(logged) - 1
    places = [cite(logged, last, f"the logged rate is {logged.values[last]:.3g} here"), *cite_plan(plan)]
    facts: dict[str, Fact] = {"schedule": plan.kind, "meant_unit": meant, "stepped_per": call}
    return [Signal(id="schedule-stepped-at-wrong-rate", claim=claim, citations=places, facts=facts)]
