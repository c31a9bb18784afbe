"""One check held against the old and the new run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean, pstdev

from traindx.contract import Check, CheckResult, Citation, PairCitation, Signal
from traindx.contract.check import Outcome
from traindx.pipeline.verification.seen import Curve, Seen
from traindx.vocabulary.metrics import normalise

NEARLY = 0.95
"""of the way the old run went: the last point is logged when it is logged"""
POINTS_PAST = 2
"""logged beyond a place before a run is said to have got past it"""
STRETCH = 0.1
"""the part of a curve that its level is measured over"""
AT_LEAST = 0.02
"""a level has to be better by this part to be called better: seeds alone bring about a percent or so"""
SMOOTHED = 0.05
"""the part of a curve that a limit is held against at once: a point of a curve by epoch, some of one by step"""
FEWEST_STEPS = 8
ERRORS = "error-"


def judge(check: Check, before: Seen, after: Seen) -> CheckResult:
    """What the new run says to a check."""
    return _JUDGES[check.kind](check, before, after)


def _result(what: str, outcome: Outcome, why: str, *places: PairCitation) -> CheckResult:
    return CheckResult(what=what, outcome=outcome, why=why, evidence=list(places))


def placed(run: str, citation: Citation) -> PairCitation:
    """A place, with the run that it is in."""
    return PairCitation.model_validate({**citation.model_dump(), "run": run})


def _gone(check: Check, before: Seen, after: Seen) -> CheckResult:
    shown = [before.signals[name] for name in check.signals if name in before.signals]
    what = f"gone: {_listed([one.id for one in shown])}" if shown else "what spoke for it is gone"
    if not shown:
        return _result(what, "passed", "nothing that clearly speaks for the cause was measured in the old run")
    old = [placed("before", place) for signal in shown for place in signal.citations[:1]]
    still = [after.signals[one.id] for one in shown if one.id in after.signals]
    new = [placed("after", place) for signal in still for place in signal.citations[:1]]
    if still and (after.diagnosis.status != "healthy" or len(still) == len(shown)):
        return _result(what, "failed", f"the new run shows it too: {still[0].claim}", *old, *new)
    blind = [one for one in shown if one not in still and not _looked(one, before, after)]
    if blind:
        return _result(what, "unknown", f"the new run has nothing to look for `{blind[0].id}` in", *old)
    if still:
        return _result(what, "passed", f"`{still[0].id}` stays, in a run that is healthy with it", *old, *new)
    return _result(what, "passed", "looked for in the new run, and not found", *old)


def _looked(signal: Signal, before: Seen, after: Seen) -> bool:
    """Whether the new run has what this signal would show in: an answer of its tool, or the same kinds of files."""
    if signal.id.startswith(ERRORS):
        return after.logged
    states = [after.status.get(tool) for tool in after.finders.get(signal.id, ())]
    if "ok" in states:
        return True
    kinds = {kind for place in signal.citations for kind in before.kinds_of(place.source)}
    return "no_data" in states and bool(kinds) and all(after.has(kind) for kind in kinds)


def _past(check: Check, before: Seen, after: Seen) -> CheckResult:
    old = before.judged
    if old is None:
        if after.curves:
            return _result(
                "the run gets past the old one's end", "passed", "the old run logged nothing, the new one did"
            )
        ended = "run-completed" in after.signals or "run-ended-in-order" in after.signals
        why = "neither run logged how far it got"
        return _result("the run gets past the old one's end", "passed" if ended else "unknown", why)
    axis = check.axis or old.summary.axis
    at = check.at if check.at is not None else old.summary.end
    wanted = f"the run gets {'past' if check.at is not None else 'to'} {axis} {at:.10g}"
    new = after.like(old) or next((one for one in after.curves if one.summary.axis == axis), None)
    if new is None or new.summary.axis != axis or not len(new.at):
        return _result(wanted, "unknown", f"the new run logged nothing by {axis}")
    first = old.summary.start
    beyond = sum(place > at for place in new.at)
    if check.at is not None:
        reached = beyond >= POINTS_PAST
    else:
        reached = new.summary.end >= at or (new.summary.end - first) >= NEARLY * (at - first)
    places = [
        placed("before", old.cite(-1, "how far the old run got")),
        placed("after", new.cite(-1, "how far this got")),
    ]
    why = f"it got to {axis} {new.summary.end:.10g}" + ("" if reached else ", which is too early to tell")
    return _result(wanted, "passed" if reached else "unknown", why, *places)


def _series(check: Check, before: Seen, after: Seen) -> CheckResult:
    old = before.named(check.series)
    new = (after.like(old) if old is not None else None) or (after.named(check.series) if old is None else None)
    name = old.summary.name if old is not None else check.series
    what = _series_text(check, name)
    if new is None or not len(new.at):
        return _result(what, "unknown", f"the new run did not log `{name}`")
    if check.relation == "better":
        return _better(what, old, new, own_ends=check.over == "end")
    if check.relation == "steadier":
        return _steadier(what, old, new)
    chosen = [index for index, at in enumerate(new.at) if check.at is None or at >= check.at]
    if check.over == "end":
        chosen = chosen[-max(1, round(len(chosen) * STRETCH)) :]
    if not chosen:
        return _result(what, "unknown", f"`{name}` ends before {check.axis} {check.at:g}")
    values = _smoothed([new.values[index] for index in chosen]) if check.value is not None else new.values
    rows = list(zip(chosen, values, strict=True)) if check.value is not None else [(at, values[at]) for at in chosen]
    check = _fair(check, old, len(chosen))
    bad = next(((index, value) for index, value in rows if not _holds(check, value)), None)
    if bad is not None:
        why = f"`{name}` is {bad[1]:.4g} at {new.summary.axis} {new.at[bad[0]]:.10g}"
        return _result(what, "failed", why, placed("after", new.cite(bad[0], "the first point that breaks it")))
    worst = max(rows, key=lambda row: row[1] * (-1 if check.relation == "above" else 1))[0]
    highest = "lowest" if check.relation == "above" else "highest"
    return _result(
        what,
        "passed",
        f"it holds in all {len(chosen)} points",
        placed("after", new.cite(worst, f"the {highest} value")),
    )


def _fair(check: Check, old: Curve | None, points: int) -> Check:
    """A limit that the old run broke while all was well lies within its noise: its own highest level counts instead."""
    if old is None or check.relation != "below" or check.value is None or check.at is None:
        return check
    well = [value for at, value in zip(old.at, old.values, strict=True) if at < check.at]
    # The highest of as many points: the longer one looks, the higher a noisy curve is seen to go.
    last = [value for value in _smoothed(well)[-max(1, min(points, len(well) // 2)) :] if math.isfinite(value)]
    return check.model_copy(update={"value": max([check.value, *last])})


def _smoothed(values: Sequence[float]) -> list[float]:
    """The running mean over whole windows: a loss that is logged by step has single batches far off its level."""
    width = max(1, round(len(values) * SMOOTHED))
    return [fmean(values[max(0, at - width + 1) : max(at + 1, width)]) for at in range(len(values))]


def _holds(check: Check, value: float) -> bool:
    if not math.isfinite(value):
        return False
    limit = check.value if check.value is not None else math.inf
    return check.relation == "finite" or (value < limit if check.relation == "below" else value > limit)


def _better(what: str, old: Curve | None, new: Curve, *, own_ends: bool) -> CheckResult:
    """The level of both: at the same place, or each at its own end."""
    if old is None:
        return _result(what, "unknown", "the old run did not log it")
    ends = [one.summary.end for one in (old, new)]
    if not own_ends:
        if ends[1] < NEARLY * ends[0]:
            why = f"the new run ends at {new.summary.axis} {ends[1]:.10g}, the old one at {ends[0]:.10g}"
            return _result(what, "unknown", why)
        ends = [min(ends)] * 2
    before, after = (_level(one, end) for one, end in zip((old, new), ends, strict=True))
    places = [
        placed("before", old.cite(-1, "where the old run ends")),
        placed("after", new.cite(-1, "where this ends")),
    ]
    why = f"its level there is {after:.4g}, in the old run {before:.4g}"
    gain = before - after if _lower_is_better(new) else after - before
    if math.isfinite(after) and (not math.isfinite(before) or gain > AT_LEAST * abs(before)):
        return _result(what, "passed", why, *places)
    return _result(what, "failed", why, *places)


def _lower_is_better(curve: Curve) -> bool:
    return curve.summary.loss or normalise(curve.summary.original).kind not in {"accuracy", "score"}


def _level(curve: Curve, end: float) -> float:
    """The mean of the last tenth up to a place."""
    last = _upto(curve, end, STRETCH)
    return fmean(last) if last and all(map(math.isfinite, last)) else math.nan


def _unrest(curve: Curve) -> float:
    """How far neighbours lie apart in the second half; a slow trend adds next to nothing."""
    last = _upto(curve, curve.summary.end, 0.5)
    steps = [after - before for before, after in pairwise(last)]
    return pstdev(steps) if len(steps) >= FEWEST_STEPS and all(map(math.isfinite, steps)) else math.nan


def _upto(curve: Curve, end: float, part: float) -> list[float]:
    upto = [value for at, value in zip(curve.at, curve.values, strict=True) if at <= end * (1 + 1e-9)]
    return upto[-max(1, round(len(upto) * part)) :]


def _steadier(what: str, old: Curve | None, new: Curve) -> CheckResult:
    """Whether the second half is calmer than that of the old run."""
    if old is None:
        return _result(what, "unknown", "the old run did not log it")
    before, after = _unrest(old), _unrest(new)
    if math.isnan(before) or math.isnan(after):
        return _result(what, "unknown", "too few points to tell how restless it is")
    why = f"from point to point it moves by {after:.4g}, in the old run by {before:.4g}"
    places = [
        placed("before", old.cite(-1, "where the old run ends")),
        placed("after", new.cite(-1, "where this ends")),
    ]
    return _result(what, "passed" if after < (1 - AT_LEAST) * before else "failed", why, *places)


def _error(check: Check, before: Seen, after: Seen) -> CheckResult:  # noqa: ARG001 - every judge takes them all
    """The same error again refutes; another one leaves open what the fix did."""
    what = "the run does not end in an error"
    if not after.logged:
        return _result(what, "unknown", "the new run has no log")
    cited = {(p.source, p.locator) for cause in after.diagnosis.root_causes if cause.likely for p in cause.evidence}
    ended = [
        (signal, place)
        for name, signal in after.signals.items()
        if name.startswith(ERRORS)
        for place in signal.citations
        if (place.source, place.locator) in cited
    ]
    if not ended:
        return _result(what, "passed", "its log shows none that ended it")
    signal, place = ended[0]
    outcome: Outcome = "failed" if signal.id in before.signals else "unknown"
    return _result(what, outcome, f"it ends in an error: {signal.claim}", placed("after", place))


def _checkpoints(check: Check, before: Seen, after: Seen) -> CheckResult:  # noqa: ARG001 - as every judge
    what = "no checkpoint holds NaN or Inf"
    rows = after.context.checkpoints
    if not rows and not before.context.checkpoints:
        return _result(what, "passed", "")
    if not rows:
        return _result(what, "unknown", "the new run left no checkpoint")
    bad = next((row for row in rows if row.not_finite), None)
    if bad is not None:
        place = Citation(
            claim="values that are not finite", source=bad.path, locator=f"tensor {bad.not_finite[0].split(':')[0]}"
        )
        return _result(what, "failed", f"`{bad.path}`: {bad.not_finite[0]}", placed("after", place))
    return _result(what, "passed", f"{len(rows)} checkpoints were searched")


def _series_text(check: Check, name: str) -> str:
    if check.relation == "finite":
        return f"every value of `{name}` is finite"
    if check.relation in {"better", "steadier"}:
        return f"`{name}` is {check.relation} than in the old run"
    where = (
        f" from {check.axis} {check.at:g} on" if check.at is not None else " at its end" if check.over == "end" else ""
    )
    return f"`{name}` stays {check.relation} {check.value:.4g}{where}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names[:4])


_JUDGES = {"gone": _gone, "past": _past, "series": _series, "error": _error, "checkpoints": _checkpoints}
