"""Statistics are fitted before the split.

## What it finds
A scaler, imputer, feature selection or vectorizer that is fitted on all data, whose result is split into training and
validation data afterwards.

## Why it matters
What is learned from the validation rows goes into the training data: the metric is too good, with feature selection and
target encoding by far.

## Silent
Fits on the training part alone, and fits on data that is never split.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import class_of
from traindx.program.values import Made, Tensor

ID = "preprocessing-leakage"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at what goes into every split."""
    trace = analysis.trace
    fits = {f"fitted-{id(event.subject)}": event for event in trace.of("fit")}
    for event in trace.of("split"):
        arrays = event.facts.get("arrays") or (event.subject,)
        marks = frozenset().union(*(part.marks for part in arrays if isinstance(part, Tensor)))
        for mark in sorted(marks & fits.keys()):
            fit = fits[mark]
            kind = class_of(fit.subject) if isinstance(fit.subject, Made) else "a statistic"
            yield Finding(
                ID,
                fit.place,
                f"`{kind}` is fitted on all data, and the split at {event.place.text} comes afterwards",
                facts={"fit_place": fit.place.text, "split_place": event.place.text, "fitted": kind},
                also=((event.place, "splits what was fitted on all of it"),),
            )
