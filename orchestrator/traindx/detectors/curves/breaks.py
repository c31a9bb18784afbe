"""Where a curve broke: a lasting rise, NaN, a NaN that hides behind zeros, a spike that recovered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from traindx.contract import Fact, Signal, SignalKind
from traindx.detectors.citing import cite, where
from traindx.detectors.curves.objective import Objective
from traindx.detectors.curves.shape import Numbers
from traindx.detectors.curves.untrained import better_untrained
from traindx.readers.model import Series

SIGNALS: dict[str, str | SignalKind] = {
    "loss-diverged": "the loss rose above its best level and stayed there",
    "loss-above-its-start": "the loss rose from its first value and never recovered",
    "loss-shifted-level": "the loss jumped to a higher level in one step and kept improving from there",
    "loss-stepped-level": "the loss went to a higher level in one step and stays there, below its start",
    "loss-non-finite": SignalKind("the loss is NaN or Inf from some point on", group="non-finite"),
    "loss-non-finite-briefly": "single values are NaN or Inf and the curve continues",
    "loss-non-finite-from-start": "the first loss is already NaN or Inf",
    "loss-climbed-before-nan": "the loss climbed right before it became NaN or Inf",
    "nan-out-of-the-blue": "the loss was normal right before it became NaN or Inf",
    "loss-nan-masked": "the loss is printed as 0.0 while the gradient norm is NaN or Inf",
    "loss-spike-recovered": "the loss jumped up and recovered on its own",
    "loss-thrown-up": "the loss was thrown far above its start and never improved on it",
    "loss-relearned": "the loss jumped in one step and took long to recover",
}

FEWEST = 5
# How far before the first NaN the rise that leads to it is looked for: a tenth of the run, at least three points.
LEAD = 10
ASTRONOMICAL = 1e9
"""a loss beyond this has run away already, whatever it is of"""


def detect(goal: Objective, series: Sequence[Series]) -> list[Signal]:
    """The break, and what came right before it."""
    shape = goal.shape
    found = []
    if shape.first_non_finite is not None:
        found.extend(_non_finite(goal, shape.first_non_finite))
    else:
        found.extend(_masked(goal, series))
    if shape.onset is not None:
        found.extend(_divergence(goal, shape.onset))
    elif shape.first_non_finite is None and (worse := _above_its_start(goal) or _lost(goal, series)) is not None:
        found.append(worse)
    elif shape.peak_index is not None and shape.first_non_finite is None:
        found.extend(_recovered(goal, shape.peak_index))
    return found


def relearned_from(goal: Objective) -> int | None:
    """Where a curve jumps at once and takes long to come back: what was known had to be learned again.

    A bad batch throws a curve off for a few points; new data, or a lost optimizer state, for as long as learning takes.
    """
    costs, top = goal.costs, goal.shape.peak_index
    if top is None or goal.shape.broke is not None or top < FEWEST:
        return None
    before = costs[max(0, top - 12) : top - 2]
    low = float(np.nanmedian(before))
    jump = float(costs[top]) - low
    rise = np.flatnonzero(costs[top - 3 : top] < low + 0.3 * jump)
    after = costs[top + 1 :]
    back = np.flatnonzero(_level(after) <= low + max(0.1 * jump, 3 * goal.shape.noise))
    took = int(back[0]) if len(back) else len(after)
    return top - 3 + int(rise[-1]) + 1 if len(rise) and took >= max(6, len(costs) // 25) else None


def _level(values: Numbers) -> Numbers:
    """The running median of five: single points above or below do not count."""
    if len(values) < 5:
        return values
    return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(values, 5), axis=1), np.float64)


def never_came_back(goal: Objective) -> bool:
    """Whether the curve stands above its first value from the second point on, by more than it swings."""
    costs = goal.costs
    if len(costs) < 20 or goal.rewarded or not np.isfinite(costs).all():
        return False
    late = costs[len(costs) // 2 :]
    swing = float(np.percentile(late, 90) - np.percentile(late, 10))
    above = goal.shape.end - float(costs[0])
    return float(np.mean(costs[1:] <= costs[0])) <= 0.05 and above > max(0.05 * abs(float(costs[0])), 0.6 * swing)


def _above_its_start(goal: Objective) -> Signal | None:
    """A curve that left its first value upwards and never came back; one that learns ends below it almost surely."""
    first = float(goal.costs[0])
    if not never_came_back(goal):
        return None
    loss = goal.series
    claim = f"`{loss.original}` rises from its first value {first:.4g} and never recovers: it ends at {goal.last:.4g}"
    places = [cite(loss, 0, "the first value"), cite(loss, len(loss) - 1, "the last value")]
    facts: dict[str, Fact] = {"loss_start": first, "loss_end": goal.last, "onset": where(loss, 1)}
    return Signal(id="loss-above-its-start", claim=claim, citations=places, facts=facts)


def _lost(goal: Objective, series: Sequence[Series]) -> Signal | None:
    """Weights that were better before the first step than ever after."""
    seen_on = better_untrained(goal, series)
    if seen_on is None:
        return None
    first, end = float(seen_on.values[0]), float(seen_on.values[-1])
    claim = f"`{seen_on.original}` was {first:.4g} before the first step and never as good again: it ends at {end:.4g}"
    places = [
        cite(seen_on, 0, "the validation loss before training"),
        cite(seen_on, len(seen_on) - 1, "the validation loss at the end"),
    ]
    return Signal(id="loss-above-its-start", claim=claim, citations=places)


def _non_finite(goal: Objective, first: int) -> list[Signal]:
    loss = goal.series
    at = where(loss, first)
    after = goal.costs[first:]
    came_back = np.isfinite(after).sum()
    if came_back > 0.5 * len(after) and np.isfinite(after[-max(2, len(after) // 10) :]).all():
        claim = f"`{loss.original}` is {loss.values[first]} at {at} and finite again afterwards"
        return [Signal(id="loss-non-finite-briefly", claim=claim, citations=[cite(loss, first, claim)])]
    claim = f"`{loss.original}` is {loss.values[first]} from {at} on"
    facts: dict[str, Fact] = {"onset": at}
    before = np.flatnonzero(np.isfinite(goal.costs[:first]))[-1:].tolist()
    places = [cite(loss, first, claim)]
    if before:
        facts |= {"last_good": where(loss, before[0]), "loss_before": float(loss.values[before[0]])}
        places.insert(0, cite(loss, before[0], "the last finite value"))
    return [
        Signal(id="loss-non-finite", claim=claim, citations=places, facts=facts),
        *_lead(goal, first),
    ]


def _lead(goal: Objective, first: int) -> list[Signal]:
    """Whether the curve climbed before its first NaN, or was as always."""
    loss, costs = goal.series, goal.costs
    if first == 0:
        claim = f"`{loss.original}` is not finite from the first value"
        return [Signal(id="loss-non-finite-from-start", claim=claim, citations=[cite(loss, 0, claim)])]
    finite = costs[:first][np.isfinite(costs[:first])]
    if len(finite) and float(finite.max()) > ASTRONOMICAL and not goal.rewarded:
        return [_climbed(goal, first, f"{finite.max():.4g} is not a plausible starting loss")]
    if len(finite) < 2:
        return []
    lead = finite[-min(max(3, len(finite) // LEAD), len(finite)) :]
    calm = finite[: len(finite) - len(lead)]
    if len(calm) < 2:
        calm = finite[:1]
    usual, spread = float(np.median(calm)), float(np.percentile(calm, 90) - np.percentile(calm, 10))
    low = float(calm.min())
    top = float(lead.max())
    if top > max(usual + 3 * spread, low + 0.5 * abs(low), 1.2 * finite[0] if finite[0] > 0 else -np.inf):
        return [_climbed(goal, first, f"{usual:.4g} was usual")]
    if len(finite) < 4:
        return []
    claim = f"`{loss.original}` was normal ({finite[-1]:.4g}) right before it became {loss.values[first]}"
    return [Signal(id="nan-out-of-the-blue", claim=claim, citations=[cite(loss, first - 1, claim)])]


def _climbed(goal: Objective, first: int, usual: str) -> Signal:
    """A climb before the first NaN, cited at its top."""
    loss, costs = goal.series, goal.costs
    start = max(0, first - max(3, first // LEAD))
    at = start + int(np.nanargmax(np.where(np.isfinite(costs[start:first]), costs[start:first], -np.inf)))
    top = float(loss.values[at])
    claim = f"`{loss.original}` had climbed to {top:.4g} before it became non-finite; {usual}"
    place = cite(loss, at, f"the top of the climb: {top:.4g}")
    return Signal(id="loss-climbed-before-nan", claim=claim, citations=[place], facts={"loss_before": top})


def _masked(goal: Objective, series: Sequence[Series]) -> list[Signal]:
    """A loss of exactly zero beside a gradient norm that is not finite: trainers print NaN losses as 0.0."""
    zeros = goal.costs == 0.0
    if not len(zeros) or not zeros[-1]:
        return []
    last_alive = np.flatnonzero(~zeros)
    first = int(last_alive[-1]) + 1 if len(last_alive) else 0
    if len(zeros) - first < 2:
        return []
    loss = goal.series
    norm = _lost_norm(series, loss, float(loss.at[first]))
    if norm is None:
        return []
    at = where(loss, first)
    claim = f"`{loss.original}` is exactly 0.0 from {at} on while `{norm.original}` is not finite: a hidden NaN"
    places = [cite(loss, first, "the loss is printed as zero"), cite(norm, len(norm) - 1, "the gradient")]
    return [Signal(id="loss-nan-masked", claim=claim, citations=places, facts={"onset": at})]


def _lost_norm(series: Sequence[Series], loss: Series, since: float) -> Series | None:
    for row in series:
        if row.name == "grad_norm" and row.axis == loss.axis and len(row):
            late = row.values[row.at >= since]
            if len(late) and not np.isfinite(late).any():
                return row
    return None


def _divergence(goal: Objective, onset: int) -> list[Signal]:
    loss, shape = goal.series, goal.shape
    before = max(onset - 1, 0)
    at = where(loss, onset)
    change = f"from {loss.values[before]:.4g} to {loss.values[onset]:.4g}"
    claim = f"`{loss.original}` {goal.rose} {change} at {at} and its last value is {goal.last:.4g}"
    places = [
        cite(loss, before, f"the last value before the break: {loss.values[before]:.4g}"),
        cite(loss, onset, f"the loss breaks here: {loss.values[onset]:.4g}"),
    ]
    facts: dict[str, Fact] = {
        "onset": at,
        "last_good": where(loss, before),
        "loss_before": float(loss.values[before]),
        "loss_after": float(loss.values[onset]),
        "loss_best": goal.best,
        "loss_end": goal.last,
    }
    # Rising by all that was learned is as clear as it gets; a quarter of it is the least that counts.
    learned = max(shape.improvement, 1e-12)
    strength = float(np.clip(0.5 + 0.5 * shape.rise / learned, 0.5, 1.0))
    found = [Signal(id="loss-diverged", claim=claim, strength=strength, citations=places, facts=facts)]
    after = goal.costs[onset:][np.isfinite(goal.costs[onset:])]
    if _learns_on(after, shape.noise):
        ends = f"from {goal.shown(float(after[0])):.4g} to {goal.shown(float(after[-1])):.4g}"
        said = f"after the jump at {at} it {goal.fell} again, {ends}"
        facts_after: dict[str, Fact] = {**facts, "falls_to": goal.last}
        found.append(Signal(id="loss-shifted-level", claim=said, citations=places[1:], facts=facts_after))
    elif _stepped(goal, onset, after):
        said = f"in one step at {at} it goes to a new level and stays there, below its start"
        found.append(Signal(id="loss-stepped-level", claim=said, citations=places, facts=facts))
    return found


def _stepped(goal: Objective, onset: int, after: Numbers) -> bool:
    """A clean step to a level that holds: what was learned fits less well. A broken net falls back to its start."""
    shape = goal.shape
    if len(after) < 6 or onset < 3 or shape.end > shape.start - 0.2 * shape.improvement:
        return False
    before = goal.costs[max(0, onset - len(after)) : onset]
    before = before[np.isfinite(before)][-max(6, len(after) // 2) :]
    jump = float(np.median(after) - np.median(before))
    third = max(2, len(after) // 3)
    drift = abs(float(np.median(after[:third]) - np.median(after[-third:])))
    scatter = float(np.percentile(after, 90) - np.percentile(after, 10))
    at_once = float(np.median(after[:2])) > float(np.median(before)) + 0.5 * jump
    return at_once and drift < 0.2 * jump and scatter < jump


def _learns_on(after: Numbers, noise: float) -> bool:
    """Whether a curve that has jumped goes on falling from its new level, without a burst and without a flat line."""
    if len(after) < 4:
        return False
    half = len(after) // 2
    early, late = float(np.median(after[:half])), float(np.median(after[half:]))
    return float(after.max()) <= 2 * float(np.median(after)) and early - late > max(0.02 * abs(early), noise)


def _recovered(goal: Objective, top: int) -> list[Signal]:
    loss, shape = goal.series, goal.shape
    claim = f"`{loss.original}` jumped to {loss.values[top]:.4g} at {where(loss, top)} and recovered"
    facts: dict[str, Fact] = {"spike_at": where(loss, top), "spike": float(loss.values[top])}
    # A spike that recovered is worth a remark, never a cause by itself: its strength stays below the bar.
    strength = 0.8 * float(np.clip((goal.costs[top] - shape.best) / max(shape.improvement, 1e-12), 0.3, 1.0))
    place = cite(loss, top, claim)
    if not goal.rewarded and 0 < 1.3 * shape.start < goal.costs[top] and shape.end > 0.95 * shape.start:
        said = f"`{loss.original}` shot up to {loss.values[top]:.4g} and never got below its start"
        thrown = Signal(id="loss-thrown-up", claim=said, citations=[place], facts=facts)
        return [Signal(id="loss-spike-recovered", claim=claim, strength=0.3, citations=[place], facts=facts), thrown]
    first = relearned_from(goal)
    if first is None:
        return [Signal(id="loss-spike-recovered", claim=claim, strength=strength, citations=[place], facts=facts)]
    at = where(loss, first)
    span = f"from {loss.values[first - 1]:.4g} to {loss.values[top]:.4g}"
    said = f"`{loss.original}` jumped {span} at {at} and recovered slowly"
    facts |= {"onset": at, "loss_before": float(loss.values[first - 1]), "loss_after": float(loss.values[top])}
    places = [cite(loss, first - 1, "the last value before the jump"), cite(loss, top, said)]
    return [
        Signal(id="loss-spike-recovered", claim=claim, strength=0.5 * strength, citations=[place], facts=facts),
        Signal(id="loss-relearned", claim=said, citations=places, facts=facts),
    ]
