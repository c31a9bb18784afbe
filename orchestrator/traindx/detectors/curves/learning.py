"""Whether anything was learned: fell, stayed, settled early, still falling, constant to the last digit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from traindx.contract import Fact, Signal, SignalKind
from traindx.detectors.citing import cite, where
from traindx.detectors.curves.breaks import never_came_back
from traindx.detectors.curves.loss import validation_of
from traindx.detectors.curves.objective import Objective
from traindx.detectors.curves.restlessness import falls_steadily
from traindx.readers.model import Series

SIGNALS: dict[str, str | SignalKind] = {
    "loss-dropped-at-once": "the first value is hundreds of times above all others, which barely move",
    "loss-wanders": "averages over whole epochs wander without getting better",
    "loss-never-fell": "the loss ended where it began",
    "loss-constant": "the loss is the same number at every point",
    "reward-constant": "the reward is the same number at every point",
    "loss-fell": SignalKind("the loss fell clearly and ended near its best", group="loss-fell"),
    "loss-fell-far": SignalKind("the loss fell to a fifth of its start or below", group="loss-fell"),
    "loss-stays-high": "the loss fell but is still at more than half of its start",
    "run-very-short": "the run made a few hundred updates in all",
    "loss-settled-early": "the loss stopped moving in the first part of the run, at a large fraction of its start",
    "loss-still-falling": "the last quarter of the run still brought a large part of the improvement",
}

# A curve that has come this far in the first quarter and no further afterwards has settled.
EARLY = 0.3
SHORT = 400
FAR = 0.2
"""what is left of a loss that fell far"""
FEW_EPOCHS = 20
RESTLESS = 0.02
EXPLOSION = 100
MANY = 128
"""points of which a thirty-second still has a level"""


def detect(goal: Objective, series: Sequence[Series], chance: Signal | None) -> list[Signal]:
    """What the curve gained from its start to its end; `chance` is what `chance.at_chance` found."""
    shape, loss = goal.shape, goal.series
    if not shape.enough or shape.onset is not None or shape.first_non_finite is not None:
        return []
    last = len(loss) - 1
    facts: dict[str, Fact] = {
        "loss_start": goal.first,
        "loss_end": goal.last,
        "loss_best": goal.best,
    }
    values = goal.costs[np.isfinite(goal.costs)]
    if never_came_back(goal):
        return []
    if len(values) >= 5 and float(values.max()) == float(values.min()):
        claim = f"`{loss.original}` is {goal.last:.6g} at every one of {shape.points} points"
        name = "reward-constant" if goal.rewarded else "loss-constant"
        return [Signal(id=name, claim=claim, citations=[cite(loss, last, claim)], facts=facts)]
    slowly = chance is None and falls_steadily(goal)
    if (chance is not None and chance.strength == 1.0) or not (_fell(goal) or slowly):
        between = f"its first value, {goal.first:.4g}, to its last, {goal.last:.4g}"
        claim = f"`{loss.original}` shows no clear fall from {between}"
        flat = Signal(id="loss-never-fell", claim=claim, citations=[cite(loss, last, claim)], facts=facts)
        return [flat, *_wanders(goal)] if chance is None else [flat, chance]
    span = f"from {goal.first:.4g} to {goal.last:.4g}"
    claim = f"`{loss.original}` {goal.fell} {span} over {shape.points} points"
    ends = [cite(loss, 0, "the first value"), cite(loss, last, "the last value")]
    found = [Signal(id="loss-fell", claim=claim, citations=ends, facts=facts)]
    if _at_once(goal):
        said = f"`{loss.original}` fell from {goal.costs[0]:.4g} before its second point, and barely since"
        found.append(Signal(id="loss-dropped-at-once", claim=said, citations=ends[:1], facts=facts))
    strength = _still_falling(goal, series)
    if strength > 0:
        said = f"`{loss.original}` was still falling at the last points: {goal.last:.4g}"
        found.append(Signal(id="loss-still-falling", claim=said, strength=strength, citations=ends[1:], facts=facts))
    if loss.axis == "step" and 20 < float(loss.at[-1]) < SHORT and not goal.rewarded:
        said = f"the last logged point is {where(loss, last)}: few updates for a network trained from scratch"
        found.append(Signal(id="run-very-short", claim=said, citations=ends[1:], facts=facts))
    remains = shape.end / shape.start if shape.start > 0 and not goal.rewarded else 0.0
    if not goal.rewarded and shape.start > 0 and remains < FAR:
        said = f"`{loss.original}` fell to {remains:.0%} of its start"
        found.append(Signal(id="loss-fell-far", claim=said, citations=ends[1:], facts=facts))
    if remains > 0.5:
        said = f"`{loss.original}` is still at {remains:.0%} of its start"
        strength = min(1.0, (remains - 0.5) / 0.5)
        found.append(Signal(id="loss-stays-high", claim=said, strength=strength, citations=ends[1:], facts=facts))
    if shape.settled < EARLY and shape.points >= 10 and shape.slope < 0.03:
        at = where(loss, min(last, int(shape.settled * last)))
        said = f"`{loss.original}` had made all but a twentieth of its way by {at}; its last value is {goal.last:.4g}"
        facts = {**facts, "settled_at": at}
        strength = float(np.clip(shape.end / shape.start, 0.0, 1.0)) if shape.start > 0 else 0.3
        found.append(Signal(id="loss-settled-early", claim=said, strength=strength, citations=ends[1:], facts=facts))
    return found if chance is None else [*found, chance]


def _at_once(goal: Objective) -> bool:
    """A first point hundreds of times above all that follow, which hardly moves: it started with an explosion."""
    costs = goal.costs[np.isfinite(goal.costs)]
    if goal.rewarded or len(costs) < 6 or float(costs[1:].min()) <= 0:
        return False
    early, late = float(np.median(costs[1:4])), float(np.median(costs[-3:]))
    return float(costs[0]) > EXPLOSION * float(costs[1:].max()) and late > 0.5 * early


def _wanders(goal: Objective) -> list[Signal]:
    """Means over whole epochs that differ by a fiftieth and more from one to the next: the weights are thrown about."""
    shape, loss = goal.shape, goal.series
    if goal.rewarded or loss.axis != "epoch" or shape.points < 10 or shape.noise <= RESTLESS * abs(shape.end):
        return []
    seen = float(loss.values[goal.at_end])
    claim = f"`{loss.original}` wanders by {shape.noise:.3g} from epoch to epoch around {seen:.4g}"
    place = cite(loss, goal.at_end, claim)
    return [Signal(id="loss-wanders", claim=claim, citations=[place], facts={"swing": shape.noise})]


def _still_falling(goal: Objective, series: Sequence[Series]) -> float:
    """How clearly the last quarter still brought something: a share of all that was gained, or of what was left.

    Where validation is known it must fall as well: training loss alone goes on falling when samples are memorised.
    """
    shape = goal.shape
    values = goal.costs[np.isfinite(goal.costs)]
    if len(values) < 8:
        return float(min(1.0, shape.slope / 0.22)) if shape.slope > 0.1 else 0.0
    before, between, now = (float(np.median(part)) for part in np.array_split(values, 8)[5:])
    # A curve that bends towards its floor loses speed by half from eighth to eighth; one that is under way does not.
    pace = (between - now) / (before - between) if before > between else 0.0
    left = (before - now) / before if before - now > 2 * shape.noise and min(before, now) > 0 else 0.0
    late = values[len(values) // 2 :]
    wobble = min(shape.noise, float(np.median(np.abs(np.diff(late, 2)))) if len(late) > 3 else shape.noise)
    clear = pace > 0.8 and before - now > 10 * wobble
    few = goal.series.axis == "epoch" and len(values) <= FEW_EPOCHS
    under_way = left > (0.08 if clear else 0.15) and pace > 0.6
    going = max(0.5 if pace < 0.8 else 0.95 if few else 0.8, 0.8 * left / 0.25) if under_way else 0.0
    strength = max(shape.slope / 0.22 if shape.slope > 0.1 else 0.0, going)
    if len(values) >= MANY:
        # What fell when the rate was lowered and then stands still has arrived.
        first, second = (float(np.median(part)) for part in np.array_split(values, 32)[30:])
        if first - second < 0.03 * (before - now):
            return 0.0
    seen_on = validation_of(goal.series, series)
    if strength > 0 and seen_on is not None and len(seen_on) >= 4:
        seen = seen_on.values[np.isfinite(seen_on.values)]
        tail = max(1, len(seen) // 4)
        if len(seen) >= 4 and float(np.min(seen[-tail:])) > 0.98 * float(np.min(seen[:-tail])):
            return 0.0
    return float(min(1.0, strength))


def _fell(goal: Objective) -> bool:
    """A fall must stand out of the noise; a loss that is positive throughout must also have lost a fiftieth."""
    shape = goal.shape
    finite = goal.costs[np.isfinite(goal.costs)]
    relative = 0.02 * abs(shape.start) if not goal.rewarded and float(finite.min()) > 0 else 0.0
    least = max(relative, 2 * shape.noise)
    return shape.improvement > least and shape.start - shape.end > 0.5 * least
