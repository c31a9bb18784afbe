"""Checking an answer against the run before it is accepted: places, numbers, fixes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from traindx.brain.interface import Case
from traindx.catalog import issue_for
from traindx.contract import ContextPackage, Fact, RootCause, Signal
from traindx.evidence import opened
from traindx.evidence.fixes import objections
from traindx.evidence.numbers import Known, named_places, strays, values_in


async def troubles(causes: Sequence[RootCause], case: Case, signals: Sequence[Signal]) -> list[str]:
    """What does not hold, each with its place in the submission, for the turn that may repair it."""
    rows = await asyncio.to_thread(opened, causes, case.belt, signals)
    found = []
    for index, (cause, verdicts) in enumerate(zip(causes, rows, strict=True)):
        for number, (piece, verdict) in enumerate(zip(cause.evidence, verdicts, strict=True)):
            if not verdict.verified:
                place = f"{piece.source}, {piece.locator}".rstrip(", ")
                found.append(f"`causes[{index}].evidence[{number}]` ({place}): {verdict.why}")
        if not cause.evidence:
            found.append(f"`causes[{index}]` has no evidence")
        against = await asyncio.to_thread(objections, cause, case.context, case.belt)
        found += [f"`causes[{index}].fix`: {row}" for row in against]
    return found


async def grounded(
    causes: Sequence[RootCause], case: Case, signals: Sequence[Signal], facts: Mapping[str, Fact]
) -> tuple[list[RootCause], list[str]]:
    """The causes with a sentence whose numbers nothing bears out replaced by the catalog's, and what was replaced."""
    rows = await asyncio.to_thread(opened, causes, case.belt, signals)
    kept, said = [], []
    for cause, verdicts in zip(causes, rows, strict=True):
        shown = [piece for piece, verdict in zip(cause.evidence, verdicts, strict=True) if verdict.verified]
        texts = [text for piece in shown for text in (piece.claim, piece.quote, piece.locator)]
        texts += [text for signal in signals for text in (signal.claim, *map(str, signal.facts.values()))]
        known = [value for text in texts for value in values_in(text)] + _of(case.context)
        stray = strays(cause.issue, Known(known)) + _beyond(cause.issue, case.context)
        if stray:
            said.append(f'`{cause.id}` was worded anew: nothing bears out {", ".join(stray)} in "{cause.issue[:120]}"')
            cause = cause.model_copy(update={"issue": issue_for(case.catalog[cause.id], facts)})  # noqa: PLW2901
        kept.append(cause)
    return kept, said


def _of(context: ContextPackage) -> list[float]:
    """The numbers of the context package: ends and extremes of the curves, and the settings."""
    curves = [
        value
        for row in context.series
        for value in (row.first, row.last, row.lowest, row.highest, row.start, row.end, float(row.points))
    ]
    return curves + [float(row.value) for row in context.settings if isinstance(row.value, int | float)]


def _beyond(text: str, context: ContextPackage) -> list[str]:
    """Epochs and steps that no curve reaches."""
    found = []
    for axis, position in named_places(text):
        reach = [(row.start, row.end) for row in context.series if row.axis == axis]
        if reach and not any(start <= position <= end for start, end in reach):
            found.append(f"{axis} {position:g}")
    return found
