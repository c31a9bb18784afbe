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
    "loss-scale-settled": "the scale of mixed-precision training came down from its start and held from then on",
    "loss-scale-at-floor": "the scale of mixed-precision training has halved to its floor",
}

FEWEST = 5
HOPELESS = 2.0**-10
"""a scale that makes gradients smaller still, in a format that has too little room below"""
HIGH = 64
"""a scale that leaves gradients room on both sides"""
RARE = 0.01
"""share of the later steps that a scaler skips as it probes the range"""
LONG = 5
"""times as many steps as there were overflows"""
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
        if not _is_scale(row):
            continue
        first, last = float(row.values[0]), float(row.values[-1])
        if first >= 128 and last <= 1 and float(np.mean(np.diff(row.values) <= 0)) > 0.9:
            claim = f"`{row.original}` fell from {first:g} to {last:g}"
            place = cite(row, len(row) - 1, claim)
            facts: dict[str, Fact] = {"scale_start": first, "scale_end": last}
            return [Signal(id="loss-scale-at-floor", claim=claim, citations=[place], facts=facts)]
    return []


def settled(series: Sequence[Series]) -> list[Signal]:
    """A scale that starts far too high, as scalers do, is halved in the first steps, and then all but holds."""
    for row in series:
        if row.axis != "step" or len(row) < FEWEST or not _is_scale(row) or not np.isfinite(row.values).all():
            continue
        drops = row.at[1:][np.diff(row.values) < 0]
        ends = [float(one.at[-1]) for one in series if one.source == row.source and one.axis == "step" and len(one)]
        end = max(ends)
        late = int(np.sum(drops > end / 2))
        held = end >= LONG * len(drops) and late <= max(1.0, RARE * end / 2)
        if len(drops) >= FEWEST and held and float(row.values[-1]) >= HIGH:
            claim = (
                f"`{row.original}` came down from {float(row.values[0]):g} to {float(row.values[-1]):g} in {len(drops)}"
                f" skipped steps of {end:g}, {late} of them in the second half"
            )
            return [Signal(id="loss-scale-settled", claim=claim, citations=[cite(row, len(row) - 1, claim)])]
    return []


def _is_scale(row: Series) -> bool:
    words = words_without_digits(row)
    return bool(words & {"scale", "lossscale", "scaler"}) and not words & {"lr", "grad", "scales"}


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
