"""The loss scale of mixed-precision training: halved to its floor, and the steps that were skipped for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite, cite_line
from traindx.detectors.curves.metric_names import words_without_digits
from traindx.readers.model import Excerpt, Series
from traindx.readers.quoting import quote_of

SIGNALS = {
    "steps-skipped": "most steps were skipped by the loss scaler",
    "loss-scale-at-floor": "the scale of mixed-precision training has halved to its floor",
}

FEWEST = 5
HOPELESS = 2.0**-10
"""a scale that makes gradients smaller still, in a format that has too little room below"""
MOST_LINES = 4_000
"""lines of a log in which a scale is told of"""
_REDUCED = re.compile(
    r"(?:reduc\w{1,4}|lower\w{1,4}|decreas\w{1,4}|halv\w{1,4}|overflow\w{0,4}.{0,40}\bsett\w{1,4})\b[^.\d]{0,40}?"
    r"\bto:?\s{0,3}(\d[\d.]{0,30}(?:e[-+]?\d{1,4})?)(?=\D|$)",
    re.IGNORECASE,
)


def logged(series: Sequence[Series]) -> list[Signal]:
    """A loss scale that starts high and ends at one or below: every halving was a step that was skipped."""
    for row in series:
        words = words_without_digits(row)
        if not ("scale" in words or "lossscale" in words or "scaler" in words) or words & {"lr", "grad", "scales"}:
            continue
        first, last = float(row.values[0]), float(row.values[-1])
        if first >= 128 and last <= 1 and float(np.mean(np.diff(row.values) <= 0)) > 0.9:
            claim = f"`{row.original}` fell from {first:g} to {last:g}"
            place = cite(row, len(row) - 1, claim)
            facts: dict[str, Fact] = {"scale_start": first, "scale_end": last}
            return [Signal(id="loss-scale-at-floor", claim=claim, citations=[place], facts=facts)]
    return []


def announced(log_heads: Iterable[Excerpt]) -> list[Signal]:
    """A scale that is told in sentences: `Gradient overflow.  Skipping step, … reducing loss scale to 0.5`."""
    for head in log_heads:
        told: list[tuple[int, str, float]] = []
        for number, text in head.numbered():
            found = _REDUCED.search(text[:400]) if "scale" in text else None
            if found is not None:
                told.append((number, quote_of(text), float(found[1])))
        if len(told) >= FEWEST and (told[-1][2] <= 1 < told[0][2] or told[-1][2] <= min(HOPELESS, told[0][2] / 2)):
            (first_line, first, start), (last_line, last, end) = told[0], told[-1]
            claim = f"{len(told)} overflows reduced the loss scale from {start:g} to {end:g}"
            places = [cite_line(head.source, first_line, claim, first), cite_line(head.source, last_line, claim, last)]
            facts: dict[str, Fact] = {"scale_start": start, "scale_end": end}
            return [Signal(id="loss-scale-at-floor", claim=claim, citations=places, facts=facts)]
    return []


def skipped(series: Sequence[Series]) -> list[Signal]:
    """A counter of skipped steps that keeps up with the steps themselves."""
    for row in series:
        words = words_without_digits(row)
        if not words & {"skipped", "skips", "skip", "overflows"} or len(row) < FEWEST or row.axis != "step":
            continue
        done, skipped = float(row.at[-1]), float(row.values[-1])
        if done > 0 and 0.5 * done < skipped <= 1.1 * done:
            claim = f"`{row.original}` is {skipped:g} after {done:g} steps: most of them were skipped"
            return [Signal(id="steps-skipped", claim=claim, citations=[cite(row, len(row) - 1, claim)])]
    return []
