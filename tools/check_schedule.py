"""The learning rate as planned by config and code, against what was logged and against the break."""

from dataclasses import replace
from typing import Literal

import numpy as np
from pydantic import Field

from traindx.contract import Signal, Value
from traindx.detectors.citing import where
from traindx.detectors.curves.objective import objective
from traindx.detectors.curves.shape import Numbers
from traindx.detectors.settings import planned_changes, schedule_deviation
from traindx.detectors.settings.own_schedule import own_plan
from traindx.detectors.settings.planned_rate import Plan, planned
from traindx.detectors.settings.schedule_counts import batches_per_epoch, counts
from traindx.program.followed import program_of, settings_of
from traindx.readers import Run, Series
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """No options: the run's own schedule is checked."""


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


@tool(needs=["settings", "code"], emits={**schedule_deviation.SIGNALS, **planned_changes.SIGNALS})
def check_schedule(given: Input, run: Run) -> ScheduleReport:  # noqa: ARG001 - every tool takes its input
    """Reconstruct the learning rate from the scheduler's settings (StepLR, MultiStepLR, ExponentialLR, cosine, warm
    restarts, OneCycle, linear and cosine with warm-up) or from the function with which the program computes it, compare
    it with the logged one, and look at it where the loss broke and where the run ended.
    """
    settings = settings_of(run)
    plan = planned(settings, program_of(run)) or own_plan(program_of(run), settings)
    if plan is None:
        raise NoData("config and code describe no schedule that can be reconstructed, or more than one")
    logged = schedule_deviation.comparable_rate(run.series)
    return _unlogged(run, plan) if logged is None else _against_the_log(run, plan, logged)


def _against_the_log(run: Run, plan: Plan, logged: Series) -> ScheduleReport:
    batches = run.once(batches_per_epoch)
    found = schedule_deviation.fit(plan, logged, batches)
    if found is None:
        raise NoData(f"`{logged.original}` is counted in {logged.axis}s, and how they relate to the plan is unknown")
    share, expected = found
    return _report(plan, logged, expected, share, schedule_deviation.detect(plan, logged, share, expected, batches))


def _unlogged(run: Run, plan: Plan) -> ScheduleReport:
    goal = run.once(objective)
    if goal is None:
        raise NoData("neither a learning rate nor a loss was logged to compare the plan with")
    loss = goal.series
    called = "" if plan.unit else planned_changes.stepped_per(program_of(run))
    if called:
        # Steps of which nobody knows how many make an epoch are more than there are epochs.
        counted = counts(loss, called, run.once(batches_per_epoch)) or [loss.at]
        plan = replace(plan, unit=called) if planned_changes.cut_short(plan, goal, counted[-1]) else plan
        return _report(plan, loss, plan.at(counted[-1]), None, planned_changes.detect(plan, goal, counted[-1]))
    unit = plan.unit or loss.axis
    counted = counts(loss, "epoch" if unit == "epoch" else "step", run.once(batches_per_epoch))
    if not counted:
        raise NoData(f"the plan counts {unit}s and `{loss.original}` {loss.axis}s: how they relate is unknown")
    # The last way to count is by the steps, which know how far into an epoch a point lies.
    return _report(plan, loss, plan.at(counted[-1]), None, planned_changes.detect(plan, goal, counted[-1]))


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
