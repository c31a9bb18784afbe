"""What the logged gradient norm says: exploded, faded, next to nothing or lost, and when in relation to the break."""

from __future__ import annotations

import numpy as np

from traindx.contract import Fact, Signal, SignalKind
from traindx.detectors.citing import cite, moment, where
from traindx.detectors.curves.objective import Objective
from traindx.readers.model import Series

SIGNALS: dict[str, str | SignalKind] = {
    "grad-norm-exploded-before-onset": "the gradient norm grew by orders of magnitude before the loss broke",
    "grad-norm-jumped-at-onset": "the gradient norm jumped together with the loss",
    "grad-norm-calm-at-onset": "the gradient norm stays in its normal range where the loss breaks",
    "grad-norm-burst": "the gradient norm briefly burst to a hundred times its usual size",
    "grad-norm-exploded": "the gradient norm grew by orders of magnitude and stayed there",
    "grad-norm-steady": "the gradient norm stayed in its usual range to the end",
    "grad-norm-non-finite": SignalKind(
        "the gradient norm is NaN or Inf from some point on to the end", group="non-finite"
    ),
    "grad-norm-faded": "the gradient norm fades to nothing while the loss stays high",
    "grad-norm-tiny": "the gradient norm is close to zero from the start",
}

# AutoTrainer calls a growth of 70x an explosion; ten times the usual norm is where clipping recipes start to act.
SPIKE = 5.0
EXPLOSION = 30.0
BURST = 100.0
# Below this a step of any usual learning rate changes no weight in single precision (SageMaker takes 1e-7 per weight).
TINY = 1e-5
FADED = 0.05
FEWEST = 5
FEW = 3
THROWN = 1.3
"""a loss over the highest before it that no usual batch brings about"""


def against_the_break(goal: Objective | None, norms: Series) -> list[Signal]:
    """Whether the norm exploded, and before, with or after the break; over the whole run where nothing broke."""
    onset = None if goal is None else goal.shape.broke
    if goal is None or onset is None or (goal.series.axis != norms.axis and goal.series.source != norms.source):
        return _without_break(norms)
    loss = goal.series
    at = moment(norms, loss, onset)
    calm = _level(norms, 0, at)
    window = max(1, len(norms) // 20)
    ahead = _highest_within(norms, max(1, at - window), at)
    with_it = _level(norms, at, at + window)
    if at > 3 and ahead > EXPLOSION * _level(norms, 0, max(1, at - window)):
        grown = ahead / calm
        claim = f"`{norms.original}` had already grown {grown:.0f}-fold before the loss broke at {where(loss, onset)}"
        return [_signal("grad-norm-exploded-before-onset", claim, norms, [max(0, at - 1)], {"grad_norm": ahead})]
    if with_it > SPIKE * calm >= 0:
        claim = (
            f"`{norms.original}` jumped from {calm:.3g} to {with_it:.3g} at {where(norms, at)}, together with the loss"
        )
        facts: dict[str, Fact] = {"grad_norm_before": calm, "grad_norm": with_it}
        signal = _signal("grad-norm-jumped-at-onset", claim, norms, [max(0, at - 1), at], facts)
        # Ten times the usual goes with any break; a thousand times is a gradient that exploded.
        strength = float(np.clip(np.log10(with_it / max(calm, 1e-30)) / 3, 0.3, 1.0))
        return [signal.model_copy(update={"strength": strength})]
    if at > 3 and 0 < with_it <= 3 * calm and loss.at[onset] > 0:
        claim = f"`{norms.original}` stays at {with_it:.3g} ({calm:.3g} before) where the loss breaks"
        return [_signal("grad-norm-calm-at-onset", claim, norms, [at], {})]
    return []


def _without_break(norms: Series) -> list[Signal]:
    top = highest(norms)
    early, late = _level(norms, 0, max(1, len(norms) // 4)), _level(norms, 3 * len(norms) // 4, len(norms))
    if late > EXPLOSION * early:
        claim = f"`{norms.original}` grew from {early:.3g} to {late:.3g}"
        return [_signal("grad-norm-exploded", claim, norms, [top], {"grad_norm": late})]
    if np.isnan(late):
        return []
    usual, most = _level(norms, 0, len(norms)), float(norms.values[top])
    if most > BURST * usual > 0:
        claim = f"`{norms.original}` burst to {most:.3g} at {where(norms, top)}, where {usual:.3g} is usual"
        return [_signal("grad-norm-burst", claim, norms, [top], {"grad_norm": most, "onset": where(norms, top)})]
    claim = f"`{norms.original}` went from {early:.3g} to {late:.3g}"
    return [_signal("grad-norm-steady", claim, norms, [len(norms) - 1], {})]


def highest(norms: Series) -> int:
    """The point with the highest finite norm."""
    return int(np.argmax(np.where(np.isfinite(norms.values), norms.values, -np.inf)))


def tiny(goal: Objective | None, norms: Series, usual: float) -> list[Signal]:
    """A norm of next to nothing, all along: nothing reaches the weights. At the end of a run it may have converged."""
    early = _level(norms, 0, max(3, len(norms) // 3))
    learned = goal is not None and goal.shape.improvement > 0.2 * abs(goal.shape.start)
    # Losses in tiny units have tiny gradients, and learn: only a zero is nothing whatever the unit.
    if not early < TINY or (learned and early > 0):
        return []
    claim = f"`{norms.original}` is {early:.2g} from the start (usually {usual:.2g})"
    return [_signal("grad-norm-tiny", claim, norms, [0], {"grad_norm": early})]


def faded(goal: Objective | None, norms: Series) -> list[Signal]:
    """A norm that was there and goes to nothing although nothing is solved: it underflows, or the units have died."""
    finite = norms.values[np.isfinite(norms.values)]
    if goal is None or goal.rewarded or len(finite) < 4 * FEWEST or goal.shape.end < 0.8 * goal.shape.start:
        return []
    early, late = float(np.median(finite[: len(finite) // 10])), float(np.median(finite[-(len(finite) // 10) :]))
    if not late < FADED * early:
        return []
    claim = f"`{norms.original}` fades from {early:.2g} to {late:.2g} while the loss stays high"
    return [_signal("grad-norm-faded", claim, norms, [0, len(norms) - 1], {"grad_norm": late})]


def lost(norms: Series, goal: Objective | None = None) -> list[Signal]:
    """A norm that is not finite at the end; a loss scaler makes the first few infinite on purpose."""
    bad = ~np.isfinite(norms.values)
    tail = 1 if goal is not None and _thrown_with(norms, goal) else max(2, len(norms) // 10)
    if not bad[-tail:].all():
        return []
    first = int(len(bad) - np.argmin(bad[::-1])) if not bad.all() else 0
    claim = f"`{norms.original}` is {norms.values[first]} from {where(norms, first)} to the end"
    return [_signal("grad-norm-non-finite", claim, norms, [first], {"onset": where(norms, first)})]


def _thrown_with(norms: Series, goal: Objective) -> bool:
    """Whether the last of a few values is a NaN beside a loss far above those before: a skipped step moves no loss."""
    costs = goal.costs
    if not FEW <= len(norms) < FEWEST or len(costs) != len(norms) or not np.isnan(norms.values[-1]) or goal.rewarded:
        return False
    return bool(np.isfinite(costs).all() and costs[:-1].min() > 0 and costs[-1] > THROWN * costs[:-1].max())


def _level(norms: Series, first: int, last: int) -> float:
    """The median of what is finite; where nothing is, a NaN has no size, and only Inf is large."""
    window = norms.values[first : max(last, first + 1)]
    finite = window[np.isfinite(window)]
    if len(finite):
        return float(np.median(finite))
    return float("nan") if np.isnan(window).any() else float("inf")


def _highest_within(norms: Series, first: int, last: int) -> float:
    window = norms.values[first : max(last, first + 1)]
    finite = window[np.isfinite(window)]
    return float(finite.max()) if len(finite) else 0.0


def _signal(name: str, claim: str, norms: Series, points: list[int], facts: dict[str, Fact]) -> Signal:
    places = [cite(norms, point, f"the gradient norm is {norms.values[point]:.3g}") for point in points]
    return Signal(id=name, claim=claim, citations=places, facts=facts)
