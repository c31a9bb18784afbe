"""Statistics are fitted before the split.

## What it finds
A scaler, imputer, feature selection or vectorizer that is fitted on all data, whose result is split into training and
validation data afterwards; or columns that are chosen by hand with the labels of all rows, before rows are picked for
training and validation.

## Why it matters
What is learned from the validation rows goes into the training data: the metric is too good, with feature selection and
target encoding by far.

## Silent
Fits on the training part alone, and fits on data that is never split.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.parting import hand_splits
from traindx.program.queries import class_of
from traindx.program.selection import CHOOSING, Selection, choosing_functions, picks_columns, selections
from traindx.program.values import Made, Place, Tensor
from traindx.readers.code.codeunit import CodeUnit

ID = "preprocessing-leakage"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at what goes into every split, and at what columns are chosen by."""
    yield from _fitted(analysis)
    picking = [unit for unit in analysis.units if picks_columns(unit)]
    called = frozenset[str]().union(*(unit.names for unit in picking))
    choosers = choosing_functions(analysis.units, called)
    for unit in picking:
        if unit.names.isdisjoint(CHOOSING | choosers):
            continue
        for found in unit.once((selections, choosers), partial(_selections, unit, choosers)):
            scored, parted = Place(unit, found.scored), Place(unit, found.parted)
            yield Finding(
                ID,
                scored,
                f"columns of `{found.data}` are chosen with `{found.labels}` of all rows, and rows are picked for"
                f" training and validation at {parted.text} afterwards",
                facts={"fit_place": scored.text, "split_place": parted.text, "fitted": "feature selection"},
                also=((parted, "picks rows of what was chosen with all of them"),),
            )


def _selections(unit: CodeUnit, choosers: frozenset[str]) -> list[Selection]:
    """The selections among the statements of a module, and among those of each function."""
    blocks = (block for block in unit.bodies if picks_columns(unit, block))
    return [found for block in blocks for found in selections(block, choosers)]


def _fitted(analysis: Analysis) -> Iterator[Finding]:
    """Whatever was fitted on data that is split later."""
    trace = analysis.trace
    fits = {f"fitted-{id(event.subject)}": event for event in trace.of("fit")}
    known = [(event, event.facts.get("arrays") or (event.subject,)) for event in trace.of("split")]
    known += [(event, (array,)) for event, array in hand_splits(analysis)]
    for event, arrays in known:
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
