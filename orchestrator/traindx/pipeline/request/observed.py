"""What the artifacts speak for, in the same currency as the message: points by kind, with a sentence each."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from traindx.contract import ContextPackage, ErrorSummary, SeriesSummary
from traindx.pipeline.request.clauses import sentences
from traindx.pipeline.request.matching import match_phrases, tally
from traindx.vocabulary.metrics import measures_memory

# A plain report in the message weighs 2.5 to 5 and leads; a guess weighs at most 2 and yields to what was recorded.
_STRONG, _CLEAR, _FAINT = 2.2, 1.5, 1.1
_FEW = 4
"""a curve of fewer points shows no trend"""

_LOSS = re.compile(r"loss|perplexity|ppl|nll|[mr]se\b|mae\b", re.I)
_HELD_OUT = re.compile(r"val|eval|test|dev|held", re.I)
_GRADIENT = re.compile(r"grad\w*[_/ ]?norm", re.I)
_ACCURACY = re.compile(r"(?:^|[/_])acc(?:uracy)?$", re.I)
_SECONDARY = re.compile(r"scale|weight_|lr\b", re.I)


@dataclass(frozen=True)
class Observation:
    """One thing the artifacts show."""

    kind: str
    points: float
    sentence: str

    @property
    def shows_trouble(self) -> bool:
        """Whether it is a sign of trouble, rather than something to look at."""
        return self.points >= _CLEAR


def observations(context: ContextPackage | None) -> tuple[Observation, ...]:
    """What the artifacts show, strongest first."""
    if context is None:
        return ()
    found = [*_from_errors(context.errors), *_from_series(context.series)]
    found.extend(_from_presence(context, bool(found)))
    return tuple(sorted(found, key=lambda item: -item.points))


def _from_errors(errors: Iterable[ErrorSummary]) -> Iterator[Observation]:
    """The first error is the root as the reader ordered them; the rest followed from it."""
    raised = [log_error for log_error in errors if log_error.kind == "error"]
    for log_error, ceiling in zip(raised[:3], (_STRONG, 0.6, 0.3), strict=False):
        points = tally(match_phrases(sentences(log_error.text[:2000]))) or {"crash": 1.0}
        top = max(points.values())
        for kind, value in points.items():
            yield Observation(
                kind, ceiling * value / top, f"{_short(log_error.text)} ({log_error.source}:{log_error.line})"
            )
        yield Observation("crash", ceiling * 0.9, f"{_short(log_error.text)} ({log_error.source}:{log_error.line})")


def _short(text: str) -> str:
    return text if len(text) <= 200 else text[:199] + "\u2026"


def _from_series(series: Iterable[SeriesSummary]) -> Iterator[Observation]:
    curves = [row for row in series if not row.duplicate_of]
    for curve in curves:
        if _LOSS.search(curve.name) and not _SECONDARY.search(curve.name):
            yield from _from_loss(curve)
        elif _GRADIENT.search(curve.name):
            yield from _from_gradients(curve)
        elif measures_memory(curve.original):
            yield from _from_memory(curve)
    yield from _from_gap(curves)
    yield from _below_zero(curves)
    if curves:
        yield Observation("check-up", _FAINT, f"{len(curves)} recorded curves to judge")


def _from_loss(curve: SeriesSummary) -> Iterator[Observation]:
    if curve.non_finite or not math.isfinite(curve.last):
        count = max(curve.non_finite, 1)
        yield Observation("non-finite", _STRONG, f"`{curve.name}` has {count} NaN or Inf values ({curve.source})")
    elif _HELD_OUT.search(curve.name):
        return
    elif curve.diverged and curve.judged:
        yield Observation(
            "divergence",
            _STRONG,
            f"`{curve.name}` ended at {curve.last:g}, far above its low of {curve.lowest:g} ({curve.source})",
        )
    elif curve.points >= _FEW and abs(curve.highest - curve.lowest) <= 0.02 * abs(curve.first):
        sentence = f"`{curve.name}` stayed between {curve.lowest:g} and {curve.highest:g} ({curve.source})"
        yield Observation("not-learning", _CLEAR, sentence)


def _from_gap(curves: list[SeriesSummary]) -> Iterator[Observation]:
    train = [c for c in curves if _LOSS.search(c.name) and not _HELD_OUT.search(c.name) and c.points >= _FEW]
    held = [c for c in curves if _LOSS.search(c.name) and _HELD_OUT.search(c.name) and c.points >= _FEW]
    for curve in held[:1]:
        risen = curve.lowest > 0 and curve.last > 1.1 * curve.lowest
        if risen and any(other.last < 1.05 * other.lowest or other.last < 0.5 * curve.last for other in train):
            sentence = f"`{curve.name}` rose from {curve.lowest:g} to {curve.last:g} while training went on improving"
            yield Observation("overfitting", _CLEAR, f"{sentence} ({curve.source})")


def _below_zero(curves: list[SeriesSummary]) -> Iterator[Observation]:
    """A loss below zero where accuracy is logged: what classifies has losses above it."""
    if not any(_ACCURACY.search(curve.name) for curve in curves):
        return
    for curve in curves:
        if curve.judged and curve.points >= _FEW and curve.last < 0 and curve.last <= curve.first:
            sentence = f"`{curve.name}` goes to {curve.last:g}, below zero ({curve.source})"
            yield Observation("training-code", _CLEAR, sentence)


def _from_gradients(curve: SeriesSummary) -> Iterator[Observation]:
    # AutoTrainer calls a ratio of 70 exploding; the margin above it keeps ordinary warmup spikes out.
    if curve.points >= _FEW and curve.lowest > 0 and curve.last > 100 * max(curve.first, curve.lowest):
        sentence = f"`{curve.name}` grew from {curve.first:g} to {curve.last:g} ({curve.source})"
        yield Observation("exploding-gradients", _CLEAR, sentence)


def _from_memory(curve: SeriesSummary) -> Iterator[Observation]:
    if (
        curve.points >= _FEW
        and curve.first > 0
        and curve.last >= 1.5 * curve.first
        and curve.last >= 0.97 * curve.highest
    ):
        yield Observation(
            "memory-growth", _CLEAR, f"`{curve.name}` grew from {curve.first:g} to {curve.last:g} ({curve.source})"
        )


def _from_presence(context: ContextPackage, judged: bool) -> Iterator[Observation]:
    """What is there to look at, when it shows no trouble by itself."""
    artifacts, traits = context.artifacts, set(context.traits)
    code = ", ".join(artifacts.model_code[:3]) or "the code"
    if "recurrent" in traits:
        yield Observation("state-handling", 0.4 if judged else _FAINT, f"Recurrent code to review ({code})")
    if artifacts.model_code or traits:
        yield Observation("review", 0.3 if judged else 1.0, f"Training code to review ({code})")
    for kind, paths in (("checkpoint", artifacts.checkpoints), ("data", artifacts.data), ("review", artifacts.config)):
        if paths:
            yield Observation(kind, 0.2, f"Given: {', '.join(paths[:3])}")
    if artifacts.training_logs or artifacts.loss_curves:
        yield Observation(
            "check-up", 0.5, f"A log to read ({', '.join([*artifacts.training_logs, *artifacts.loss_curves][:3])})"
        )
