"""What the logged gradient norm says about the break."""

import numpy as np

from traindx.artifacts import Run, Series
from traindx.contract import Fact, Signal
from traindx.curves import cite, main_loss, nearest_index, shape_of, where
from traindx.toolbelt import NoData, ToolInput, ToolOutput, tool

# AutoTrainer calls a growth of 70x an explosion; ten times the usual norm is where clipping recipes start to act.
SPIKE = 5.0
EXPLOSION = 30.0


class Question(ToolInput):
    """Nothing to choose: the run's own gradient norm is looked at."""


class GradientReport(ToolOutput):
    """The usual norm, the highest, and where that was."""

    series: str
    source: str
    usual: float
    highest: float
    highest_at: str
    non_finite: int


@tool(
    needs=["series"],
    emits={
        "grad-norm-exploded-before-onset": "the gradient norm grew by orders of magnitude before the loss broke",
        "grad-norm-jumped-at-onset": "the gradient norm jumped together with the loss",
        "grad-norm-exploded": "the gradient norm grew by orders of magnitude and stayed there",
        "grad-norm-steady": "the gradient norm stayed in its usual range to the end",
    },
)
def check_gradients(question: Question, run: Run) -> GradientReport:  # noqa: ARG001 - every tool takes its input
    """Compare the logged gradient norm with the loss: did it explode, and before, with or after the break?"""
    norms = max((row for row in run.series if row.name == "grad_norm" and len(row) > 2), key=len, default=None)
    if norms is None:
        raise NoData(
            "no gradient norm was logged; looked for grad_norm, gradient_norm, gnorm, total_norm in every series"
        )
    finite = np.isfinite(norms.values)
    if not finite.any():
        raise NoData(f"`{norms.original}` in `{norms.source}` holds no finite value")
    usual = float(np.median(norms.values[finite]))
    top = int(np.argmax(np.where(finite, norms.values, -np.inf)))
    return GradientReport(
        series=norms.name,
        source=norms.source,
        usual=usual,
        highest=float(norms.values[top]),
        highest_at=where(norms, top),
        non_finite=int((~finite).sum()),
        signals=_signals(run, norms, top),
    )


def _signals(run: Run, norms: Series, top: int) -> list[Signal]:
    loss = main_loss(run.series)
    onset = None if loss is None else shape_of(loss.values).broke
    if loss is None or onset is None or loss.axis != norms.axis:
        return [_without_break(run, norms, top)]
    at = nearest_index(norms, float(loss.at[onset]))
    calm = _level(norms, 0, at)
    window = max(1, len(norms) // 20)
    ahead = _level(norms, max(1, at - window), at)
    with_it = _level(norms, at, at + window)
    if at > 3 and ahead > EXPLOSION * _level(norms, 0, max(1, at - window)):
        grown = ahead / calm
        claim = f"`{norms.original}` had already grown {grown:.0f}-fold before the loss broke at {where(loss, onset)}"
        return [_signal("grad-norm-exploded-before-onset", claim, run, norms, [max(0, at - 1)], {"grad_norm": ahead})]
    if with_it > SPIKE * calm:
        claim = (
            f"`{norms.original}` jumped from {calm:.3g} to {with_it:.3g} at {where(norms, at)}, together with the loss"
        )
        facts: dict[str, Fact] = {"grad_norm_before": calm, "grad_norm": with_it}
        return [_signal("grad-norm-jumped-at-onset", claim, run, norms, [max(0, at - 1), at], facts)]
    return []


def _without_break(run: Run, norms: Series, top: int) -> Signal:
    early, late = _level(norms, 0, max(1, len(norms) // 4)), _level(norms, 3 * len(norms) // 4, len(norms))
    if late > EXPLOSION * early:
        claim = f"`{norms.original}` grew from {early:.3g} to {late:.3g}"
        return _signal("grad-norm-exploded", claim, run, norms, [top], {"grad_norm": late})
    claim = f"`{norms.original}` went from {early:.3g} to {late:.3g}"
    return _signal("grad-norm-steady", claim, run, norms, [len(norms) - 1], {})


def _level(norms: Series, first: int, last: int) -> float:
    window = norms.values[first : max(last, first + 1)]
    finite = window[np.isfinite(window)]
    return float(np.median(finite)) if len(finite) else float("inf")


def _signal(name: str, claim: str, run: Run, norms: Series, points: list[int], facts: dict[str, Fact]) -> Signal:
    places = [cite(run, norms, point, f"the gradient norm is {norms.values[point]:.3g}") for point in points]
    return Signal(id=name, claim=claim, citations=places, facts=facts)
