"""What the logged learning rate did: raised at the break, at zero long before the end, annealed."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite, cite_setting, moment, where
from traindx.detectors.curves.objective import Objective
from traindx.detectors.settings.lookup import is_number, rates
from traindx.readers.model import Series, Setting
from traindx.vocabulary.settings import RATE

SIGNALS = {
    "lr-raised-at-onset": "the learning rate was raised exactly where the loss broke",
    "lr-unchanged-at-onset": "the learning rate was the same before and after the loss broke",
    "lr-climbing-at-onset": "the learning rate was still climbing, and higher than ever, where the loss broke",
    "lr-zero-before-end": "the learning rate is zero for a large part of the run",
    "lr-annealed": "the logged learning rate decayed to its floor by the end of the run",
}

# A change below half again as much does not break a run that was stable; noise in logged rates stays far below.
RAISED = 1.5
CLIMBED, FEWEST_RISING = 1.25, 4
"""how much higher than at two thirds of the way a climbing rate stands at the break, and points that show it"""
SHAPES_A_RESTART = re.compile(r"restart|cycle|milestone|t_0|t_mult|max_lr|peak|anneal", re.IGNORECASE)
SHAPES_A_DECAY = re.compile(
    r"t_max|total_steps|decay_steps|step_size|gamma|milestone|num_training_steps|lr_decay|decay_iters|t_0",
    re.IGNORECASE,
)
# A schedule that has come down to a thousandth of its peak no longer trains.
NOTHING = 1e-3
# Schedules end at zero by design; only what lies well before the end is lost training.
LOST_SHARE = 0.1
SHOWN = 0.02
"""of the peak, what a rounded zero may hide and still be nothing"""
_FIXED = re.compile(r"-?0\.(0{1,12})")


def rate_series(series: Sequence[Series]) -> Series | None:
    """The learning rate that was logged most often."""
    return max((row for row in series if row.name == "lr" and len(row) > 1), key=len, default=None)


@dataclass(frozen=True, eq=False)
class RateAtBreak:
    """The logged rate where the loss broke; `raised` is the point at which it goes up, None where it does not."""

    loss: Series
    onset: int
    rate: Series
    at: int
    before: float
    raised: int | None


def at_the_break(goal: Objective | None, rate: Series | None, series: Sequence[Series]) -> RateAtBreak | None:
    """The rate next to the break; None where there is no break, or no rate to lay over it."""
    onset = None if goal is None else goal.shape.broke
    if goal is None or onset is None or rate is None:
        return None
    loss = goal.series
    rate = next(
        (row for row in series if row.name == "lr" and row.source == loss.source and row.axis == loss.axis),
        rate,
    )
    if rate.axis != loss.axis and rate.source != loss.source:
        return None
    at = moment(rate, loss, onset)
    # The change may be logged a little before the loss shows it: one point, or a twentieth of a densely logged run.
    first = max(0, at - max(1, len(rate) // 20))
    # A rate that is logged once per epoch is logged when its epoch is over: the next value was in force already.
    last = at + 2 if 2 * len(rate) < len(loss) else at + 1
    before, after = float(rate.values[first]), float(np.max(rate.values[first:last], initial=-np.inf))
    if not (math.isfinite(before) and math.isfinite(after)) or before <= 0 or at == 0:
        return None
    if after < RAISED * before:
        return RateAtBreak(loss, onset, rate, at, before, None)
    return RateAtBreak(
        loss, onset, rate, at, before, first + int(np.argmax(rate.values[first:last] >= RAISED * before))
    )


def raising_setting(found: RateAtBreak | None, settings: Sequence[Setting]) -> Setting | None:
    """The setting that holds the rate to which it was raised."""
    if found is None or found.raised is None:
        return None
    after = float(found.rate.values[found.raised])
    listed = [row for row in settings if is_number(row) and any(RATE.search(part) for part in _parts(row.key))]
    same = [row for row in [*rates(settings), *listed] if math.isclose(float(row.value), after, rel_tol=0.02)]
    return next(iter(same), None)


def _parts(key: str) -> list[str]:
    """`lr` and `values` of `lr[2].values[0]`: a schedule is often a list below the name of the rate."""
    return [part.partition("[")[0] for part in key.split(".")]


def changed_at_break(found: RateAtBreak | None, settings: Sequence[Setting], setting: Setting | None) -> list[Signal]:
    """Whether the rate was raised where the loss broke, or stayed the same; `setting` is the `raising_setting`."""
    if found is None:
        return []
    rate, at = found.rate, found.at
    climbed = math.isfinite(float(found.loss.values[found.onset]))  # a NaN out of the blue tells nothing of the rate
    if found.raised is None and climbed and (since := _climbing_since(rate, at)) is not None:
        low, now = float(rate.values[since]), float(rate.values[at])
        claim = (
            f"the learning rate had climbed from {low:.4g} to {now:.4g} at {where(rate, at)}, higher than ever before,"
            " where the loss broke"
        )
        places = [cite(rate, since, f"the learning rate is {low:.4g}"), cite(rate, at, claim)]
        return [Signal(id="lr-climbing-at-onset", claim=claim, citations=places)]
    if found.raised is None:
        now = float(rate.values[at])
        claim = f"the learning rate was {found.before:.4g} before and {now:.4g} at the break ({where(rate, at)})"
        return [Signal(id="lr-unchanged-at-onset", claim=claim, citations=[cite(rate, at, claim)])]
    return [_raised(found, found.raised, settings, setting)]


def _climbing_since(rate: Series, at: int) -> int | None:
    """A point at two thirds of the way to the break from which on the rate rose, and clearly so; None where none is."""
    since = (2 * at) // 3
    rising = rate.values[since : at + 1]
    if len(rising) < FEWEST_RISING or not np.isfinite(rising).all() or bool((np.diff(rising) < 0).any()):
        return None
    low, now = float(rising[0]), float(rising[-1])
    return since if 0 < CLIMBED * low <= now and now >= float(rate.values[: at + 1].max()) else None


def _raised(found: RateAtBreak, step: int, settings: Sequence[Setting], setting: Setting | None) -> Signal:
    loss, onset, rate = found.loss, found.onset, found.rate
    before, after = float(rate.values[step - 1]), float(rate.values[step])
    claim = (
        f"the learning rate goes from {before:.4g} to {after:.4g} at {where(rate, step)},"
        f" and the loss breaks at {where(loss, onset)}"
    )
    places = [
        cite(rate, step - 1, f"the last stable learning rate: {before:.4g}"),
        cite(rate, step, f"the learning rate is raised to {after:.4g}"),
    ]
    facts: dict[str, Fact] = {
        "lr_before": before,
        "lr_after": after,
        "lr_ratio": after / before,
        "onset": where(loss, onset),
        "last_good": where(rate, step - 1),
    }
    shaping = [row for row in settings if is_number(row) and SHAPES_A_RESTART.search(row.key)]
    places += [cite_setting(row, f"`{row.key}` defines the schedule") for row in shaping[:2]]
    if setting is not None:
        places.append(cite_setting(setting, f"`{setting.key}` sets the rate that breaks the run"))
        facts |= {"lr_key": setting.key, "lr_place": f"{setting.source}:{setting.line}"}
    # A step of a ramp is no jump: twice the rate is one, a tenth more hardly.
    strength = min(1.0, max(0.1, math.log2(after / before))) if before > 0 else 1.0
    return Signal(id="lr-raised-at-onset", claim=claim, strength=strength, citations=places, facts=facts)


def stalled(goal: Objective | None, rate: Series | None, settings: Sequence[Setting]) -> list[Signal]:
    """A rate at zero for a good part of the run; or annealed as the run ended."""
    if rate is None or goal is None or goal.series.axis != rate.axis:
        return []
    loss = goal.series
    end = max(float(loss.at[-1]), float(rate.at[-1]))
    first = stalled_from(rate, end)
    if first is None:
        return _annealed(rate)
    lost = (end - float(rate.at[first])) / (end - float(rate.at[0]))
    claim = f"the learning rate is {rate.values[first]:.3g} from {where(rate, first)} on: {lost:.0%} of the run"
    facts: dict[str, Fact] = {"zero_at": where(rate, first), "lost_share": lost, "loss_end": float(loss.values[-1])}
    places = [cite(rate, first, claim)]
    shaping = [row for row in settings if is_number(row) and SHAPES_A_DECAY.search(row.key)]
    places += [cite_setting(row, f"`{row.key}` defines the schedule") for row in shaping[:3]]
    strength = min(1.0, lost / 0.3)
    return [Signal(id="lr-zero-before-end", claim=claim, strength=strength, citations=places, facts=facts)]


def _annealed(rate: Series) -> list[Signal]:
    """A schedule that ends where the run ends: it trained for as long as was planned."""
    finite = rate.values[np.isfinite(rate.values)]
    if len(finite) < 5 or float(finite[-1]) > 0.15 * float(finite.max()):
        return []
    claim = f"the learning rate decayed from {finite.max():.3g} to {finite[-1]:.3g} by the end of the run"
    return [Signal(id="lr-annealed", claim=claim, citations=[cite(rate, len(rate) - 1, claim)])]


def stalled_from(rate: Series, end: float) -> int | None:
    """The point from which on the rate is (nearly) zero, when a good part of the run up to `end` comes after it."""
    values = np.where(np.isfinite(rate.values), rate.values, 0.0)
    peak = float(values.max(initial=0.0))
    alive = np.flatnonzero(values > NOTHING * peak)
    if peak <= 0 or len(alive) == 0 or alive[-1] + 1 >= len(values):
        return None
    first = int(alive[-1]) + 1
    if _smallest_shown(rate, first) > SHOWN * peak:
        return None  # `0.0000` may be half of a rate that is printed as `0.0001`
    span = end - float(rate.at[0])
    return first if span > 0 and (end - float(rate.at[first])) / span >= LOST_SHARE else None


def _smallest_shown(rate: Series, index: int) -> float:
    """What a zero of so many decimals may hide; nothing where the file spells the value out."""
    if rate.texts:
        decimals = _FIXED.fullmatch(rate.texts[index])
        peak = rate.texts[int(np.nanargmax(rate.values))]
        # `0.0` beside `0.003` is all there is to say; beside `0.1` it was rounded.
        rounded = decimals is not None and len(peak.partition(".")[2]) == len(decimals[1])
        return 0.5 * 10.0 ** -len(decimals[1]) if decimals is not None and rounded else 0.0
    finite = rate.values[np.isfinite(rate.values) & (rate.values > 0)]
    grain = float(finite.min()) if len(finite) and rate.values[index] == 0 else 0.0
    if not grain:
        return 0.0
    # Rounding leaves multiples of a power of ten; a ramp is made of multiples of its last step, whatever that is.
    unit = 10.0 ** math.floor(math.log10(grain) + 1e-9)
    rounded = bool(np.allclose(finite / unit, np.rint(finite / unit), atol=1e-4))
    return 0.5 * unit if rounded else 0.0


def warms_up(rate: Series) -> bool:
    """Whether the rate starts low and climbs to its peak in the first part of the run."""
    values = rate.values[np.isfinite(rate.values)]
    return len(values) > 2 and float(values[0]) < 0.5 * float(values.max())
