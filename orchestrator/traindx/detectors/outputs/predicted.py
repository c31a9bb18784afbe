"""Files of predictions: one class for all, one number for all, NaN."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.citing import cite_line
from traindx.detectors.data.places import array_name, cite_array
from traindx.detectors.outputs import one_class, repetition, variety
from traindx.readers.tables.arrays import ArrayInfo
from traindx.readers.tables.predictions import Predictions

SIGNALS = {
    **{name: one_class.SIGNALS[name] for name in ("one-class-predicted", "outputs-constant")},
    **{name: variety.SIGNALS[name] for name in ("outputs-collapsed", "outputs-varied")},
    "outputs-not-finite": "predictions are NaN or Inf",
}

FEWEST = 20
ONE = 0.98
"""share of one answer from which the model says nothing else"""
MOST_CLASSES = 200
MOST_WORDS = 4
"""of the name of a class: what has more is a sentence"""
_NAMES = ("pred", "output", "logit", "prob", "sample", "generated", "recon", "y_hat")


def in_table(rows: Predictions) -> list[Signal]:
    """What the predictions of one file say, judged by the targets beside them where there are any."""
    if len(rows.predicted) < FEWEST:
        return _as_texts(rows)
    numbers = [_number(text) for text in rows.predicted]
    if all(value is not None for value in numbers):
        return _as_numbers(rows, np.array(numbers, dtype=np.float64))
    return _as_texts(rows)


def _as_numbers(rows: Predictions, values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[Signal]:
    bad = ~np.isfinite(values)
    if bad.any():
        place = int(np.argmax(bad))
        claim = f"{int(bad.sum()):,} of {len(values):,} predictions in {rows.path} are not finite"
        return [_signal("outputs-not-finite", claim, rows, place, {})]
    different = len(set(rows.wanted) - {""})
    top, times = Counter(rows.predicted).most_common(1)[0]
    whole = bool((values == np.round(values)).all()) and float(np.ptp(values)) < MOST_CLASSES
    if different == 1 or times < ONE * len(values):
        spread = float(values.std())
        wanted = np.array([value for text in rows.wanted if (value := _number(text)) is not None])
        flat = different > 10 and len(wanted) == len(values) and spread < 0.01 * float(wanted.std())
        if flat:
            claim = (
                f"predictions in {rows.path} spread by {spread:.3g} around {values.mean():.4g},"
                f" their targets by {wanted.std():.3g}"
            )
            facts: dict[str, Fact] = {
                "frozen_series": f"`{rows.column}` of {rows.path}",
                "frozen_value": float(values.mean()),
            }
            return [_signal("outputs-constant", claim, rows, 0, facts)]
        return []
    claim = f"{times:,} of {len(values):,} predictions in {rows.path} are {top}"
    claim += f", while the targets have {different} different values" if different > 1 else ""
    facts = {"frozen_series": f"`{rows.column}` of {rows.path}", "frozen_value": float(top)}
    # Without targets nobody knows whether there is another class.
    strength = 1.0 if different > 1 else 0.6
    return [_signal("one-class-predicted" if whole else "outputs-constant", claim, rows, 0, facts, strength)]


def _as_texts(rows: Predictions) -> list[Signal]:
    classes = len(set(rows.wanted) - {""})
    top, times = Counter(rows.predicted).most_common(1)[0]
    short = max(map(len, rows.predicted)) <= 40 and len(top.split()) <= MOST_WORDS and 1 < classes <= MOST_CLASSES
    if short and len(rows.predicted) >= FEWEST and times >= ONE * len(rows.predicted):
        many = f"{times:,} of {len(rows.predicted):,}"
        claim = f"{many} predictions in {rows.path} are `{top}`, and there are {classes} classes"
        facts: dict[str, Fact] = {"frozen_series": f"`{rows.column}` of {rows.path}", "frozen_value": top}
        return [_signal("one-class-predicted", claim, rows, rows.predicted.index(top), facts)]
    if max(map(len, rows.predicted)) <= 20:
        return []
    told = repetition.judged(rows.predicted[-200:], [text for text in rows.wanted[-200:] if text])
    if told is None:
        return []
    claim, collapsed = told
    facts = {"output_example": top[:80], "output_where": rows.path} if collapsed else {}
    last = len(rows.predicted) - 1
    return [_signal("outputs-collapsed" if collapsed else "outputs-varied", claim, rows, last, facts)]


def in_arrays(arrays: Sequence[ArrayInfo]) -> list[Signal]:
    """Arrays of predictions that are constant, of one class, or not finite."""
    for array in arrays:
        name = f"{array.path.rpartition('/')[2]} {array.member}".lower()
        if not any(word in name for word in _NAMES) or array.elements < FEWEST:
            continue
        place = [cite_array(array, array.described)]
        facts: dict[str, Fact] = {"frozen_series": array_name(array), "frozen_value": array.low or 0.0}
        if array.not_finite:
            claim = f"{array.not_finite:,} of {array.sampled:,} values of {array_name(array)} are not finite"
            return [Signal(id="outputs-not-finite", claim=claim, citations=place)]
        if array.constant:
            claim = f"all {array.elements:,} values of {array_name(array)} are {array.low:g}"
            whole = bool(array.values) and array.dtype.startswith(("int", "uint"))
            identity = "one-class-predicted" if whole else "outputs-constant"
            return [Signal(id=identity, claim=claim, strength=0.8, citations=place, facts=facts)]
    return []


def _signal(
    name: str, claim: str, rows: Predictions, place: int, facts: dict[str, Fact], strength: float = 1.0
) -> Signal:
    if rows.lines:
        cited = cite_line(rows.path, rows.lines[place], claim)
    else:
        cited = Citation(claim=claim, source=rows.path, quote=rows.predicted[place][:100])
    return Signal(id=name, claim=claim, strength=strength, citations=[cited], facts=facts)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return math.nan if text.strip().lower() in {"nan", "none"} else None
