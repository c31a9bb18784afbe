"""What the loss curve says: where it broke, whether it learned, how validation follows."""

from itertools import pairwise

import numpy as np
from pydantic import Field

from traindx.contract import Value
from traindx.detectors.citing import where
from traindx.detectors.curves.accuracy import accuracy
from traindx.detectors.curves.baseline import baseline
from traindx.detectors.curves.breaks import breaks
from traindx.detectors.curves.completion import completion
from traindx.detectors.curves.learning import learning
from traindx.detectors.curves.objective import Objective, measured, objective
from traindx.detectors.curves.restlessness import restlessness
from traindx.detectors.curves.rhythm import rhythm
from traindx.detectors.curves.start import start
from traindx.detectors.curves.validation import validation
from traindx.readers import Run
from traindx.runtime import NoData, ToolInput, ToolOutput, tool

WINDOWS = 8


class Input(ToolInput):
    """Which curve to look at."""

    series: str = Field(default="", description="a series name such as `train/loss`; the main loss when empty")


class Window(Value):
    """A stretch of the curve: its level, and the share of the whole improvement it brought (below zero: it lost)."""

    since: str
    level: float
    gained: float


class LossCurve(ToolOutput):
    """The measured shape of the curve, and what it means."""

    series: str
    source: str
    points: int
    start: float
    best: float
    best_at: str
    end: float
    noise: float = Field(description="point-to-point scatter, robust against trend and jumps")
    onset: str | None = Field(description="where a lasting rise begins, null when there is none")
    first_non_finite: str | None
    windows: list[Window] = Field(description="convergence, eight equal stretches of the run")


@tool(
    needs=["series"],
    emits={
        "loss-diverged": "the loss rose lastingly above its best level",
        "loss-above-its-start": "the loss left its first value upwards and never came back",
        "loss-shifted-level": "the loss jumped to a higher level in one step and went on learning from there",
        "loss-stepped-level": "the loss went to a higher level in one step and holds it, below its start",
        "loss-non-finite": "the loss is NaN or Inf from some point on",
        "loss-non-finite-briefly": "single losses are NaN or Inf and the curve goes on",
        "loss-non-finite-from-start": "the very first loss is NaN or Inf",
        "loss-climbed-before-nan": "the loss climbed right before it became NaN or Inf",
        "nan-out-of-the-blue": "the loss was as always right before it became NaN or Inf",
        "loss-nan-masked": "the loss is printed as 0.0 while the gradient norm is NaN or Inf",
        "loss-spike-recovered": "the loss jumped up and came back on its own",
        "loss-thrown-up": "the loss was thrown far above its start and has learned nothing",
        "loss-dropped-at-once": "the first value is hundreds of times above all others, which hardly move",
        "loss-wanders": "averages over whole epochs wander without getting better",
        "loss-relearned": "the loss jumped at once and took long to come back",
        "loss-at-chance": "the loss sits at ln K for a whole number of classes",
        "loss-at-variance": "a regression stays at the variance of its target",
        "loss-never-fell": "the loss ended where it began",
        "loss-constant": "the loss is the same number at every point",
        "loss-fell": "the loss fell clearly and ended near its best",
        "loss-stays-high": "the loss fell, and still stands at more than half of its start",
        "run-very-short": "the run made a few hundred updates in all",
        "loss-settled-early": "the loss stopped moving in the first part of the run, at a good part of its start",
        "loss-still-falling": "the last quarter of the run still brought a good part of the improvement",
        "loss-starts-far-above-chance": "the first loss is far above ln K for the number of classes",
        "loss-unstable-early": "the loss shoots up within the first tenth of the run before it settles",
        "loss-oscillates": "the loss swings widely without a trend",
        "loss-fell-slowly": "the loss falls steadily but has hardly left its start",
        "loss-repeats-every-epoch": "the same ups and downs come back in every epoch",
        "val-rises-while-train-falls": "validation loss rises from its best while training loss goes on falling",
        "run-ended-in-order": "after its last value the run says that it is done, or was stopped early on purpose",
        "run-completed": "the last logged step is the last planned one",
        "val-follows-train": "validation loss ended near its best",
        "loss-fell-far": "the loss fell to a fifth of its start or below",
        "worse-than-baseline": "the run ends worse than the baseline that its own log names",
        "val-still-falling": "the last evaluation alone brought validation down by a good part",
        "val-better-than-train": "validation loss ends well below training loss",
        "val-equals-train": "validation and training loss ended at the same level",
        "val-accuracy-lags": "the training data is known by heart, and accuracy on other data stays far behind",
        "val-restless": "validation loss jumps up and down while training loss stands still",
        "accuracy-lost": "accuracy in training was reached and lost again",
        "accuracy-high": "accuracy, or R2, is above 0.9 at the end",
        "accuracy-low-in-training": "accuracy on the training data itself stays low",
    },
)
def analyze_loss_curve(given: Input, run: Run) -> LossCurve:
    """Measure the shape of a loss curve: start, best, end, convergence per window, the onset of divergence, spikes that
    recovered, plateaus at chance level, NaN and what preceded it, and whether validation follows training.
    """
    goal = _chosen(given, run)
    readings = (breaks, start, learning, restlessness, rhythm, validation, accuracy, completion, baseline)
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
        windows=_windows(goal),
        signals=[signal for reading in readings for signal in reading(run, goal)],
    )


def _chosen(given: Input, run: Run) -> Objective:
    if not given.series:
        goal = objective(run)
    else:
        named = [row for row in run.series if given.series in {row.name, row.original} and len(row)]
        goal = measured(max(named, key=len)) if named else None
    if goal is None:
        known = ", ".join(sorted({row.name for row in run.series})) or "none at all"
        wanted = f"`{given.series}`" if given.series else "loss"
        raise NoData(f"no {wanted} series in this run; series found: {known}")
    return goal


def _windows(goal: Objective) -> list[Window]:
    costs, shape = goal.costs, goal.shape
    edges = np.linspace(0, len(costs), min(WINDOWS, len(costs)) + 1).astype(int)
    found, before = [], shape.start
    for first, last in pairwise(edges):
        finite = costs[first:last][np.isfinite(costs[first:last])]
        level = float(np.median(finite)) if len(finite) else float("nan")
        gained = (before - level) / shape.improvement if shape.improvement > 0 else 0.0
        found.append(Window(since=where(goal.series, int(first)), level=goal.shown(level), gained=round(gained, 4)))
        before = level if len(finite) else before
    return found
