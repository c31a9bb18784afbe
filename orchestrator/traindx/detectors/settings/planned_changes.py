"""Where no rate was logged: what the planned one does where the loss breaks, and before the run ends."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite, where
from traindx.detectors.curves.objective import Objective
from traindx.detectors.curves.shape import Numbers
from traindx.detectors.settings.schedule_counts import cite_plan
from traindx.detectors.settings.scheduler_settings import Plan, Unit
from traindx.program.analysis import Analysis
from traindx.program.queries import loops_with
from traindx.readers.model import Series

SIGNALS = {
    "planned-lr-raised-at-onset": "no rate was logged, and the planned one rises where the loss breaks",
    "planned-lr-zero-before-end": "no rate was logged, and the planned one is zero for the last part of the run",
}

RAISED = 1.5
NOTHING = 1e-3
LOST_SHARE = 0.1
FEWEST = 3
NEXT_TO_NOTHING, STILL_FELL = 0.05, 0.05
"""of the peak rate, where a run hardly learns any more; of its level, what a loss on its way must have lost before"""


def stepped_per(analyses: Sequence[Analysis]) -> Unit:
    """Where the program steps its schedulers: once per batch (`step`), once per epoch; empty where unclear."""
    found: set[Unit] = set()
    for analysis in analyses:
        backwards = analysis.trace.of("backward")
        learning = loops_with(analysis.trace, "backward")
        for event in analysis.trace.of("schedule"):
            if event.loop is not None and id(event.loop.node) in learning:
                found.add("step" if any(row.loop is event.loop for row in backwards) else "epoch")
    return found.pop() if len(found) == 1 else ""


def cut_short(plan: Plan, goal: Objective, counted: Numbers) -> bool:
    """Whether the loss was still on its way down when the planned rate came next to nothing."""
    expected, values = plan.at(counted), goal.costs
    low = np.flatnonzero(expected < NEXT_TO_NOTHING * float(np.nanmax(expected)))
    if not len(low) or low[0] < FEWEST:
        return False
    there = int(low[0])
    before, then, end = (
        float(np.nanmedian(values[max(0, at - 1) : at + 2])) for at in (there // 2, there, len(values))
    )
    # A loss that goes on falling had another rate than the plan says.
    return before - then > STILL_FELL * abs(before) and then - end <= 2 * (before - then)


def detect(plan: Plan, goal: Objective, counted: Numbers) -> list[Signal]:
    """The plan over the loss; `counted` is where the points of the loss lie in the unit of the plan."""
    if not plan.unit or not plan.certain:
        return []
    loss = goal.series
    return [*_raised(plan, loss, goal.shape.broke, counted), *_zero(plan, loss, plan.at(counted))]


def _raised(plan: Plan, loss: Series, onset: int | None, counted: Numbers) -> list[Signal]:
    """A planned rise within one logged interval of the break, after the warm-up."""
    if onset is None or onset < 2:
        return []
    # A scheduler is stepped a whole number of times.
    fine = np.unique(np.linspace(np.floor(counted[onset - 2]), np.ceil(counted[onset]), 400).round())
    rates = plan.at(fine)
    low = int(np.argmin(rates))
    before, after = float(rates[low]), float(rates[low:].max())
    earlier = plan.at(np.linspace(0, max(fine[low] - 1e-6, 0), 400))
    # A warm-up rises too, from below everything that was before.
    if before <= 0 or after < RAISED * before or float(earlier.max()) < 0.99 * before:
        return []
    if float(earlier.max()) <= before * 1.01 and float(earlier.min()) < 0.9 * before:
        return []
    claim = (
        f"as configured, the {plan.kind} raises the learning rate from {before:.3g} to {after:.3g} where the loss"
        f" breaks, at {where(loss, onset)}"
    )
    places = [cite(loss, onset, f"the loss breaks here: {loss.values[onset]:.4g}"), *cite_plan(plan)]
    facts: dict[str, Fact] = {
        "lr_before": before,
        "lr_after": after,
        "lr_ratio": after / before,
        "onset": where(loss, onset),
        "last_good": where(loss, onset - 1),
    }
    return [Signal(id="planned-lr-raised-at-onset", claim=claim, citations=places, facts=facts)]


def _zero(plan: Plan, loss: Series, expected: Numbers) -> list[Signal]:
    peak = float(np.nanmax(expected))
    alive = np.flatnonzero(expected > NOTHING * peak)
    if peak <= 0 or not len(alive) or alive[-1] + 1 >= len(loss):
        return []
    first = int(alive[-1]) + 1
    lost = float((loss.at[-1] - loss.at[first]) / ((loss.at[-1] - loss.at[0]) or 1.0))
    if lost < LOST_SHARE:
        return []
    since = where(loss, first)
    claim = f"as configured, the {plan.kind} is at {expected[first]:.2g} from {since} on, {lost:.0%} of the run"
    facts: dict[str, Fact] = {"zero_at": since, "lost_share": lost, "loss_end": float(loss.values[-1])}
    places = [*cite_plan(plan), cite(loss, first, f"from {since} on the planned rate is zero")]
    strength = min(1.0, lost / 0.3)
    return [Signal(id="planned-lr-zero-before-end", claim=claim, strength=strength, citations=places, facts=facts)]
