"""A verdict of health with its reasons: what was read, what a failure would have shown, and what the user asked about.

Health is claimed only for what was seen. What the user reports is answered point by point: seen, not seen, cannot be
seen here. Where a run is said to have ended with an error, or its results to be bad, and nothing here shows it, the
verdict is withdrawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from traindx.contract import Answer, ContextPackage, Diagnosis, SeriesSummary, Signal
from traindx.contract.coverage import coverage_text
from traindx.contract.request import Reported, Request
from traindx.pipeline.request.observed import observations
from traindx.pipeline.request.results import bad_result
from traindx.vocabulary.kinds import KINDS, WANTED, WISHES
from traindx.vocabulary.metrics import measures_memory

FEWEST_POINTS = 4
MOST_NAMED = 3
TELLING = frozenset({"logs", "metrics tables"})
ENDED_WELL = frozenset({"run-completed", "run-ended-in-order"})
LEARNED = ("loss-fell", "fine-tuning-rate", "adversaries-balanced", "accuracy-high")
"""signals that show a good level or a fall, by how much they say"""
GOOD_ALREADY = frozenset(LEARNED[1:])
STANDSTILL = frozenset({"plateau", "not-learning"})
UNMOVED = 0.05
"""of its first value: a loss that stays within this has hardly moved"""
ONE_BATCH = "Does the model learn one batch by heart? Train on a single batch for 200 steps and add what it prints"
FATAL = frozenset({"crash", "out-of-memory", "cuda-error", "environment"})
"""trouble that ends a run with an error: where nothing shows it, the error went elsewhere"""
SHOW_RESULT = (
    "What shows that result? Add ten inputs with what the model gave for them,"
    " or the figures and the script of that comparison"
)
FOLLOWED = frozenset({"val-follows-train", "outputs-varied"})


def with_reasons(
    diagnosis: Diagnosis, request: Request, context: ContextPackage, signals: Sequence[Signal]
) -> Diagnosis:
    """The diagnosis with its reasons where it says that a run is healthy; withdrawn where it may not say so."""
    if diagnosis.status not in {"healthy", "needs_more_data"}:
        return diagnosis
    reported = [row for row in request.reported if row.kind not in WISHES]
    well = diagnosis.status == "healthy"
    still = _unmoved(context, signals)
    answers = [_answer(row, request, context, signals, still, well=well) for row in reported]
    answered = diagnosis.model_copy(update={"answers": answers})
    if not well:
        return answered
    if not context.series and not _shows_more_than_words(context, signals):
        said = "No fault was found in what was read, but no value in a log or metrics file shows how the run went."
        return _withdrawn(answered, said, WANTED["series"])
    answered = answered.model_copy(update={"reasons": _reasons(context, signals)})
    if unread := _unread(context):
        said = "What was read looks healthy, but not everything that could show a failure was read."
        return _withdrawn(answered, said, *unread)
    if partial := [row for row in context.coverage if not row.whole]:
        summary = f"{diagnosis.summary} This holds for what was read: {coverage_text(partial)}."
        answered = answered.model_copy(update={"summary": summary})
    unseen = "What was read looks healthy, but it does not show what you report: {}."
    if result := bad_result(request.message):
        return _withdrawn(answered, unseen.format(result), SHOW_RESULT)
    if still is not None and any(row.kind in STANDSTILL for row in reported):
        return _withdrawn(answered, f"As you say: {_course(still)}. What was read does not show why.", ONE_BATCH)
    for row, answer in zip(reported, answers, strict=True):
        if row.kind == request.kind and row.kind in FATAL and answer.verdict == "cannot be seen here":
            return _withdrawn(answered, unseen.format(answer.said), answer.why)
    return answered


def _shows_more_than_words(context: ContextPackage, signals: Sequence[Signal]) -> bool:
    """Whether a run without a curve left something that can be judged: weights, data, outputs, or word of its end."""
    kept = context.artifacts
    return bool(context.checkpoints or context.data or kept.outputs) or _ended(signals)


def _withdrawn(diagnosis: Diagnosis, summary: str, *questions: str) -> Diagnosis:
    """The diagnosis with its verdict of health taken back."""
    return diagnosis.model_copy(update={"status": "needs_more_data", "summary": summary, "questions": list(questions)})


def _unmoved(context: ContextPackage, signals: Sequence[Signal]) -> SeriesSummary | None:
    """A loss that has hardly moved, and nothing shows that it began at a good level.

    It is the one that the run is judged by, or the same of another stage, in a file of its own, that stays far above
    where the first came down to.
    """
    curves = _judged(context.series)
    if not curves:
        return None
    first, good = curves[0], [signal for signal in signals if signal.id in GOOD_ALREADY]
    if _is_still(first) and not good:
        return first
    middle = (first.first + first.last) / 2
    stages = [row for row in curves[1:] if row.name == first.name and row.source != first.source]
    known = {place.source for signal in good for place in signal.citations}
    return next((row for row in stages if _is_still(row) and row.source not in known and row.lowest > middle), None)


def _is_still(row: SeriesSummary) -> bool:
    hardly = UNMOVED * abs(row.first)
    return row.first - row.lowest < hardly and abs(row.first - row.last) < hardly


def _unread(context: ContextPackage) -> list[str]:
    """The logs and tables of which nothing was read: what they hold may be the failure."""
    kept = context.artifacts
    harmless = {*kept.config, *kept.data, *kept.outputs, *kept.checkpoints, *kept.model_code}
    rows = [f"`{row.path}` could not be read: {row.reason}" for row in context.unread if row.path not in harmless]
    skipped = [row for row in context.coverage if row.unit == "files" and not row.whole and row.what in TELLING]
    return rows + [
        f"{row.read:,} of {row.of:,} {row.what} were read: diagnose a part of the folder, or the run you mean"
        for row in skipped
    ]


def _answer(
    reported: Reported,
    request: Request,
    context: ContextPackage,
    signals: Sequence[Signal],
    still: SeriesSummary | None,
    *,
    well: bool,
) -> Answer:
    kind = KINDS[reported.kind]
    shown = [row for row in observations(context) if row.kind == kind.name and row.shows_trouble]
    if shown:
        judged = next(iter(_judged(context.series)), None)
        beside = f". What the run is judged by: {_course(judged)}" if well and judged is not None else ""
        return Answer(said=reported.said, verdict="seen", why=f"{shown[0].sentence}{beside}")
    if still is not None and reported.kind in STANDSTILL:
        return Answer(said=reported.said, verdict="seen", why=_course(still))
    looked = _looked_at(context)
    present = [need for need in kind.needs if looked[need]]
    if kind.name in FATAL and not (_ended(signals) or _went_on(request, context)):
        where = _listed(context.artifacts.training_logs)
        seen = (
            f"No such error is printed in {where}, and nothing there says that the run came to its end. "
            if where
            else ""
        )
        return Answer(said=reported.said, verdict="cannot be seen here", why=f"{seen}{WANTED['errors']}")
    if not present:
        return Answer(said=reported.said, verdict="cannot be seen here", why=WANTED[kind.needs[0]])
    why = "; ".join(looked[need] for need in present[:2])
    if kind.needs[0] not in present:
        why += f". To be sure: {WANTED[kind.needs[0]]}"
    return Answer(said=reported.said, verdict="not seen", why=why)


def _ended(signals: Iterable[Signal]) -> bool:
    return any(signal.id in ENDED_WELL for signal in signals)


def _went_on(request: Request, context: ContextPackage) -> bool:
    """Whether values were logged after every place that the message names."""
    named = {"epoch": request.mentions.epochs, "step": request.mentions.steps}
    ends = {axis: max((row.end for row in context.series if row.axis == axis), default=0.0) for axis in named}
    places = [(place, ends[axis]) for axis, given in named.items() for place in given]
    if len(places) > 1:
        return True  # what happens twice did not end the run
    return bool(places) and all(end > place for place, end in places)


def _reasons(context: ContextPackage, signals: Sequence[Signal]) -> list[str]:
    """What was looked at and what a failure would have shown there."""
    claims = {signal.id: signal.claim for signal in reversed(signals)}
    found = [f"{claims[name]}; a run that fails to learn stays near its start" for name in LEARNED if name in claims][
        :1
    ]
    curves = _judged(context.series)
    if curves and not any(row.non_finite for row in curves):
        points = sum(row.points for row in curves)
        found.append(f"all {points:,} logged values of {_listed(row.name for row in curves)} are finite")
    found += [claim for name, claim in claims.items() if name in FOLLOWED]
    if context.artifacts.training_logs:
        found.append(_said_of_errors(context))
    found += [claim for name, claim in claims.items() if name in ENDED_WELL]
    return found


def _said_of_errors(context: ContextPackage) -> str:
    """Whether the logs hold errors; where they do and the run is well, it went on after them."""
    where = _listed(context.artifacts.training_logs)
    errors = [row for row in context.errors if row.kind == "error"]
    if not errors:
        return f"{where}: no error or traceback, which a crash would have left"
    place = f"{errors[0].source}:{errors[0].line}"
    return f"{where}: {len(errors)} error{'s' * (len(errors) > 1)} after which the run went on (first: {place})"


def _looked_at(context: ContextPackage) -> Mapping[str, str]:
    """What each kind of artifact shows, in a few words; empty where there is none."""
    kept = context.artifacts
    curves = _judged(context.series)
    memory = [row for row in context.series if measures_memory(row.original)]
    return {
        "series": _course(curves[0]) if curves else "",
        "errors": f"no such error is printed in {_listed(kept.training_logs)}" if kept.training_logs else "",
        "code": f"looked at {_listed(kept.model_code)}" if kept.model_code else "",
        "settings": "looked at the settings" if context.settings else "",
        "memory": _course(memory[0]) if memory else "",
        "outputs": f"looked at {_listed(kept.outputs)}" if kept.outputs else "",
        "checkpoints": f"looked at {_listed(kept.checkpoints)}" if kept.checkpoints else "",
        "data": f"looked at {_listed(kept.data)}" if kept.data else "",
    }


def _judged(series: Iterable[SeriesSummary]) -> list[SeriesSummary]:
    """The losses that can be judged, the one that the run is judged by first."""
    found = [row for row in series if row.loss and row.points >= FEWEST_POINTS and not row.duplicate_of]
    return sorted(found, key=lambda row: not row.judged)


def _course(row: SeriesSummary) -> str:
    """`train/loss` goes from 2.3 to 0.2, never above 2.31."""
    return (
        f"`{row.name}` goes from {row.first:.4g} to {row.last:.4g} over {row.points:,} points"
        f" (lowest {row.lowest:.4g}, highest {row.highest:.4g})"
    )


def _listed(names: Iterable[str]) -> str:
    rows = [f"`{name}`" for name in dict.fromkeys(names)]
    more = f" and {len(rows) - MOST_NAMED} more" if len(rows) > MOST_NAMED else ""
    return ", ".join(rows[:MOST_NAMED]) + more
