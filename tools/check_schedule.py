"""The learning rate as planned by config and code, against what was logged and against the break."""

from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from traindx.contract import Citation, Fact, Signal, Value
from traindx.detectors.citing import cite, where
from traindx.detectors.curves.objective import objective
from traindx.detectors.settings.lookup import cite_setting
from traindx.detectors.settings.planned_rate import Plan, planned
from traindx.readers import Run, Series
from traindx.runtime import NoData, ToolInput, ToolOutput, tool

Numbers = npt.NDArray[np.float64]
# A tenth is more than rounding and less than any two schedules differ by.
DEVIATION = 0.1
# Next to zero every ratio is large: below a hundredth of the peak differences count as such.
NEXT_TO_ZERO = 0.01
MOST_DEVIATING = 0.25
RAISED = 1.5
NOTHING = 1e-3
LOST_SHARE = 0.1
FEWEST = 5
# Batches per epoch that are tried where nothing tells them.
TRIED = np.unique(np.geomspace(2, 20_000, 400).round())
MONOTONE = {"StepLR", "MultiStepLR", "ExponentialLR", "linear"}


class Input(ToolInput):
    """Nothing to choose: the run's own schedule is looked at."""


class PlannedPoint(Value):
    """The plan at one point of the run."""

    at: str
    planned: float
    logged: float | None = None


class ScheduleReport(ToolOutput):
    """The plan, and how it compares."""

    schedule: str
    base: float
    counted_in: Literal["step", "epoch", "unknown"]
    deviating: float | None = Field(description="share of the logged rates that differ from the plan by over a tenth")
    points: list[PlannedPoint] = Field(description="ten points of the run")


@tool(
    needs=["settings", "code"],
    emits={
        "schedule-as-planned": "the logged learning rate follows the schedule that the settings describe",
        "schedule-differs": "the logged learning rate is not the one that the settings describe",
        "schedule-stepped-at-wrong-rate": "the schedule is stepped per batch where epochs are meant, or the reverse",
        "planned-lr-raised-at-onset": "no rate was logged, and the planned one rises where the loss breaks",
        "planned-lr-zero-before-end": "no rate was logged, and the planned one is zero for the last part of the run",
    },
)
def check_schedule(given: Input, run: Run) -> ScheduleReport:  # noqa: ARG001 - every tool takes its input
    """Reconstruct the learning rate from the scheduler's settings (StepLR, MultiStepLR, ExponentialLR, cosine, warm
    restarts, OneCycle, linear and cosine with warm-up), compare it with the logged one, and look at it where the loss
    broke and where the run ended.
    """
    plan = planned(run)
    if plan is None:
        raise NoData("config and code describe no schedule that can be reconstructed, or more than one")
    logged = max((row for row in run.series if row.name == "lr" and len(row) >= FEWEST), key=len, default=None)
    if logged is None:
        return _unlogged(run, plan)
    return _against_the_log(run, plan, logged)


def _against_the_log(run: Run, plan: Plan, logged: Series) -> ScheduleReport:
    """With the unit of the plan where it is known, else with the one that fits better."""
    units: list[Literal["step", "epoch"]] = [plan.unit] if plan.unit else ["step", "epoch"]
    tried = [_best_fit(plan, counts, logged.values) for unit in units for counts in _counts(run, logged, unit)]
    if not tried:
        raise NoData(f"`{logged.original}` is counted in {logged.axis}s, and how they relate to the plan is not told")
    share, expected = min(tried, key=lambda fit: fit[0])
    signals = []
    if share <= MOST_DEVIATING:
        claim = f"the logged rate follows the {plan.kind} that the settings describe"
        place = cite(run, logged, len(logged) - 1, claim)
        signals.append(Signal(id="schedule-as-planned", claim=claim, citations=[place]))
    elif plan.certain and plan.unit:
        signals.append(_differs(run, plan, logged, expected, share))
        signals += _swapped(run, plan, logged, plan.unit)
    return _report(plan, logged, expected, share, signals)


def _best_fit(plan: Plan, counts: Numbers, values: Numbers) -> tuple[float, Numbers]:
    """The share of points off the plan, and the plan: rates are logged before or after the step, from 0 or from 1."""
    fits = [(_off(plan.at(counts + shift), values), shift) for shift in (0.0, -1.0, 1.0)]
    share, shift = min(fits, key=lambda fit: fit[0])
    return share, plan.at(counts + shift)


def _off(expected: Numbers, values: Numbers) -> float:
    finite = np.isfinite(values) & np.isfinite(expected)
    if not finite.any():
        return 1.0
    wanted, seen = expected[finite], values[finite]
    room = np.maximum(DEVIATION * np.abs(wanted), NEXT_TO_ZERO * float(np.abs(wanted).max()))
    return float(np.mean(np.abs(seen - wanted) > room))


def _differs(run: Run, plan: Plan, logged: Series, expected: Numbers, share: float) -> Signal:
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
    places = [cite(run, logged, worst, f"the logged rate is {logged.values[worst]:.3g}"), *_settings(run, plan)]
    return Signal(id="schedule-differs", claim=claim, strength=min(1.0, 0.4 + share), citations=places, facts=facts)


def _swapped(run: Run, plan: Plan, logged: Series, meant: Literal["step", "epoch"]) -> list[Signal]:
    """Whether the log fits the plan once its unit is taken for the other one."""
    counts = _counts(run, logged, "step" if meant == "epoch" else "epoch")
    fits = [_best_fit(plan, count, logged.values)[0] for count in counts]
    if not counts and meant == logged.axis == "epoch" and plan.kind in MONOTONE:
        few = np.unique(np.linspace(0, len(logged) - 1, 200).astype(int))
        fits = [_best_fit(plan, logged.at[few] * batches, logged.values[few])[0] for batches in TRIED]
    if not fits or min(fits) > DEVIATION or float(np.ptp(logged.values)) <= 0:
        return []
    numbers, call = ("epochs", "batch") if meant == "epoch" else ("steps", "epoch")
    claim = (
        f"the logged rate is the {plan.kind} of the settings stepped once per {call}, but its numbers count {numbers}"
    )
    last = len(logged) - 1
    places = [cite(run, logged, last, f"the logged rate is {logged.values[last]:.3g} here"), *_settings(run, plan)]
    facts: dict[str, Fact] = {"schedule": plan.kind, "meant_unit": meant, "stepped_per": call}
    return [Signal(id="schedule-stepped-at-wrong-rate", claim=claim, citations=places, facts=facts)]


def _unlogged(run: Run, plan: Plan) -> ScheduleReport:
    goal = objective(run)
    if goal is None:
        raise NoData("neither a learning rate nor a loss was logged to compare the plan with")
    loss = goal.series
    unit = plan.unit or loss.axis
    counts = _counts(run, loss, "epoch" if unit == "epoch" else "step")
    if not counts:
        raise NoData(f"the plan counts {unit}s and `{loss.original}` {loss.axis}s: which is which is not told")
    # The last way to count is by the steps, which know how far into an epoch a point lies.
    expected = plan.at(counts[-1])
    signals = []
    if plan.unit and plan.certain:
        signals = [*_raised(run, plan, loss, goal.shape.broke, counts[-1]), *_zero(run, plan, loss, expected)]
    return _report(plan, loss, expected, None, signals)


def _raised(run: Run, plan: Plan, loss: Series, onset: int | None, counts: Numbers) -> list[Signal]:
    """A planned rise within one logged interval of the break, after the warm-up."""
    if onset is None or onset < 2:
        return []
    # A scheduler is stepped a whole number of times.
    fine = np.unique(np.linspace(np.floor(counts[onset - 2]), np.ceil(counts[onset]), 400).round())
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
        f"by its settings the {plan.kind} raises the learning rate from {before:.3g} to {after:.3g} where the loss"
        f" breaks, at {where(loss, onset)}"
    )
    places = [cite(run, loss, onset, f"the loss breaks here: {loss.values[onset]:.4g}"), *_settings(run, plan)]
    facts: dict[str, Fact] = {
        "lr_before": before,
        "lr_after": after,
        "lr_ratio": after / before,
        "onset": where(loss, onset),
        "last_good": where(loss, onset - 1),
    }
    return [Signal(id="planned-lr-raised-at-onset", claim=claim, citations=places, facts=facts)]


def _zero(run: Run, plan: Plan, loss: Series, expected: Numbers) -> list[Signal]:
    peak = float(np.nanmax(expected))
    alive = np.flatnonzero(expected > NOTHING * peak)
    if peak <= 0 or not len(alive) or alive[-1] + 1 >= len(loss):
        return []
    first = int(alive[-1]) + 1
    lost = float((loss.at[-1] - loss.at[first]) / ((loss.at[-1] - loss.at[0]) or 1.0))
    if lost < LOST_SHARE:
        return []
    since = where(loss, first)
    claim = f"by its settings the {plan.kind} is at {expected[first]:.2g} from {since} on, {lost:.0%} of the run"
    facts: dict[str, Fact] = {"zero_at": since, "lost_share": lost, "loss_end": float(loss.values[-1])}
    places = [*_settings(run, plan), cite(run, loss, first, f"from {since} on the planned rate is zero")]
    strength = min(1.0, lost / 0.3)
    return [Signal(id="planned-lr-zero-before-end", claim=claim, strength=strength, citations=places, facts=facts)]


def _counts(run: Run, row: Series, unit: Literal["step", "epoch"]) -> list[Numbers]:
    """Where the points of a series may lie, counted in steps or in epochs; none where nothing tells."""
    if row.axis == unit:
        return [row.at]
    told = row.steps if unit == "step" else row.epochs
    found = [told] if told is not None and np.isfinite(told).all() else []
    batches = _batches_per_epoch(run)
    # `epoch 3` may be the one under way: by the steps it is known how far into it.
    if batches is not None and row.axis != "row":
        found.append(row.at * batches if unit == "step" else row.at / batches)
    return found


def _batches_per_epoch(run: Run) -> float | None:
    """From a series that tells both; else from the last step and the last epoch of the run."""
    for row in run.series:
        if row.steps is not None and row.epochs is not None and len(row) > 1:
            both = np.isfinite(row.steps) & np.isfinite(row.epochs)
            if both.sum() > 1:
                return _ratio(float(row.steps[both].max()), row.epochs[both])
    steps = [float(row.at.max()) for row in run.series if row.axis == "step" and len(row)]
    epochs = [row.at for row in run.series if row.axis == "epoch" and len(row)]
    return _ratio(max(steps), np.concatenate(epochs)) if steps and epochs else None


def _ratio(last: float, epochs: Numbers) -> float | None:
    """Steps per epoch; whole epochs that begin with 0 are one more than the last of them says."""
    whole = bool((epochs == np.floor(epochs)).all()) and float(epochs.min()) == 0
    count = float(epochs.max()) + whole
    return last / count if count > 0 and last / count > 1 else None


def _settings(run: Run, plan: Plan) -> list[Citation]:
    places = [cite_setting(run, row, f"`{row.key}` = {row.value}") for row in plan.settings]
    return list({(place.source, place.locator): place for place in places}.values())[:4]


def _report(plan: Plan, row: Series, expected: Numbers, share: float | None, signals: list[Signal]) -> ScheduleReport:
    logged = row.name == "lr"
    shown = np.unique(np.linspace(0, len(row) - 1, 10).astype(int)).tolist()
    points = [
        PlannedPoint(at=where(row, at), planned=float(expected[at]), logged=float(row.values[at]) if logged else None)
        for at in shown
    ]
    return ScheduleReport(
        schedule=plan.kind,
        base=plan.base,
        counted_in=plan.unit or "unknown",
        deviating=share,
        points=points,
        signals=signals,
    )
