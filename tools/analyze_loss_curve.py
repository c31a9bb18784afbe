"""What the loss curve says: where it broke, whether it learned, how validation follows."""

from collections.abc import Sequence

from pydantic import Field

from traindx.contract import Signal
from traindx.detectors.citing import where
from traindx.detectors.curves import (
    accuracy,
    baseline,
    breaks,
    chance,
    completion,
    learning,
    restlessness,
    rhythm,
    start,
    validation,
)
from traindx.detectors.curves.objective import Objective, measured, objective
from traindx.detectors.curves.windows import Window, windows
from traindx.detectors.settings.logged_rate import rate_series
from traindx.readers import Run, Series
from traindx.readers.excerpts import read_excerpt
from traindx.runtime import NoData, ToolInput, ToolOutput, tool
from traindx.vocabulary.metrics import Kind, normalise

JUDGES: dict[Kind, str] = {
    "cost": "`profile_memory` judges memory, `check_throughput` time",
    "rate": "`check_schedule` judges the learning rate",
    "epoch": "it only counts",
    "step": "it only counts",
}


class Input(ToolInput):
    """Which curve to look at."""

    series: str = Field(default="", description="a series name such as `train/loss`; the main loss when empty")


class LossCurve(ToolOutput):
    """The measured shape of the curve, and what it means."""

    series: str
    source: str
    points: int
    start: float
    best: float
    best_at: str
    end: float
    noise: float = Field(description="point-to-point scatter, robust to trend and jumps")
    onset: str | None = Field(description="where the loss rises and stays up, null when it does not")
    first_non_finite: str | None
    windows: list[Window] = Field(description="convergence, eight equal stretches of the run")


@tool(
    needs=["series"],
    emits={
        **breaks.SIGNALS,
        **chance.SIGNALS,
        **start.SIGNALS,
        **learning.SIGNALS,
        **restlessness.SIGNALS,
        **rhythm.SIGNALS,
        **validation.SIGNALS,
        **accuracy.SIGNALS,
        **completion.SIGNALS,
        **baseline.SIGNALS,
    },
)
def analyze_loss_curve(given: Input, run: Run) -> LossCurve:
    """Measure the shape of a loss curve: start, best, end, convergence per window, the onset of divergence, spikes that
    recovered, plateaus at chance level, NaN and what preceded it, and whether validation follows training.
    """
    goal = _chosen(given, run)
    loss, shape = goal.series, goal.shape
    return LossCurve(
        series=loss.name,
        source=loss.source,
        points=shape.points,
        start=goal.shown(shape.start),
        best=goal.shown(shape.best),
        best_at=where(loss, shape.best_index),
        end=goal.shown(shape.end),
        noise=shape.noise,
        onset=None if shape.onset is None else where(loss, shape.onset),
        first_non_finite=None if shape.first_non_finite is None else where(loss, shape.first_non_finite),
        windows=windows(goal),
        signals=_signals(goal, run),
    )


def _chosen(given: Input, run: Run) -> Objective:
    if not given.series:
        goal = run.once(objective)
    else:
        named = [row for row in run.series if given.series in {row.name, row.original} and len(row)]
        _check_that_it_learns(given.series, named)
        goal = measured(max(named, key=len)) if named else None
    if goal is None:
        known = ", ".join(sorted({row.name for row in run.series})) or "none at all"
        wanted = f"`{given.series}`" if given.series else "loss"
        raise NoData(f"no {wanted} series in this run; series found: {known}")
    return goal


def _check_that_it_learns(asked: str, named: Sequence[Series]) -> None:
    """Raise `NoData` for a curve that is not about learning: it has no best, and nowhere to converge to."""
    judge = next((JUDGES[kind] for row in named if (kind := normalise(row.name).kind) in JUDGES), "")
    if judge:
        raise NoData(f"`{asked}` says nothing about learning; {judge}")


def _signals(goal: Objective, run: Run) -> list[Signal]:
    series, classes = run.series, chance.class_count(run.settings)
    guessing = chance.at_chance(goal, series, classes, run.program)
    ending, head = completion.wanted_lines(goal), baseline.wanted_lines(goal)
    return [
        *breaks.detect(goal, series),
        *start.detect(goal, classes, run.program),
        *learning.detect(goal, series, guessing),
        *restlessness.detect(goal, series, run.once(rate_series), guessing),
        *rhythm.detect(goal),
        *validation.detect(goal, series, [file.path for file in run.files if file.role == "checkpoint"]),
        *accuracy.detect(goal, series, classes, guessing),
        *(completion.detect(goal, read_excerpt(run, ending)) if ending is not None else []),
        *(baseline.detect(series, read_excerpt(run, head)) if head is not None else []),
    ]
