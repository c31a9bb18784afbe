"""Whether a model's cause has weight of its own beside the local verdict: something that the verdict has not weighed.

That a quote stands in a file says little where the file is a list of ordinary settings, or a curve that runs well.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from traindx.brains.interface import Case
from traindx.contract import ContextPackage, Evidence, RootCause, SeriesSummary, Signal
from traindx.diagnosis.catalog import Catalog
from traindx.diagnosis.evidence.numbers import values_in
from traindx.vocabulary.metrics import normalise

_LINE = re.compile(r"\bline (\d{1,12})\b")
_POINT = re.compile(r"\b(?:epoch|step|row) -?[\d.]+(?:e[+-]?\d+)? of ([^,]+)")
FLAT = 0.02
"""of its first value: a curve that stays within this has not moved"""
WORSE = 0.1
"""of its range: what a loss ends above its best where it got worse"""
LOST = 0.2
"""of its range: what a score ends below its best where it got worse"""
FEWEST = 4
SHOWN = 5e-3
"""how far a quoted value may be from the one that was read: a log rounds"""


def stands(cause: RootCause, case: Case, new: Sequence[Signal], *, against_health: bool = False) -> bool:
    """Whether a tool's `new` finding speaks for the cause, or a verified place shows the fault itself.

    A curve is never enough; against a run that was judged healthy, neither is a line of the program.
    """
    if _has_signal(cause.id, new, case.catalog):
        return True
    direct = [piece for piece in cause.evidence if piece.kind == "direct" and piece.verified]
    return any(_shows_a_fault(piece, case, strict=against_health) for piece in direct)


def shows_health(piece: Evidence, context: ContextPackage) -> bool:
    """Whether an opened place is where a curve ends, or its best, and that curve shows no failure by itself."""
    told = values_in(piece.quote)
    curves = [row for row in _curves_of(piece, context.series) if row.points > 1]
    return any(
        not _is_troubled(row)
        and any(math.isclose(value, good, rel_tol=SHOWN) for value in told for good in (row.last, _best(row)))
        for row in curves
    )


def _best(row: SeriesSummary) -> float:
    return row.lowest if row.loss else row.highest


def _has_signal(name: str, signals: Sequence[Signal], catalog: Catalog) -> bool:
    mode = catalog.get(name)
    if mode is None:
        return False
    found = {signal.id for signal in signals}
    return any(one in found and speaks.tier != "weak" for one, speaks in mode.speaks_for.items())


def _shows_a_fault(piece: Evidence, case: Case, *, strict: bool) -> bool:
    context = case.context
    line = _LINE.search(piece.locator)
    number = int(line[1]) if line else 0
    if any(row.source == piece.source and row.line == number for row in context.errors):
        return True
    if any(row.source == piece.source and row.line == number for row in context.settings):
        return False
    if any(row.path == piece.source for row in context.code):
        return not strict
    # A curve shows a symptom, and that a run is ill; what made it so is another question.
    kept = context.artifacts
    return piece.source in {*kept.checkpoints, *kept.data, *kept.outputs}


def _curves_of(piece: Evidence, series: Sequence[SeriesSummary]) -> list[SeriesSummary]:
    """The curves that a piece speaks of: the one it names, else those of its file."""
    own = [row for row in series if row.source == piece.source]
    point = _POINT.search(piece.locator)
    words = point[1] if point else f"{piece.claim} {piece.quote}"
    named = [row for row in own if row.name in words or row.original in words]
    return named or own


def _is_troubled(row: SeriesSummary) -> bool:
    """Whether a curve shows a failure by itself: not finite, diverged, flat, or far from its best at the end."""
    if row.non_finite or row.diverged:
        return True
    span = row.highest - row.lowest
    kind = normalise(row.name).kind
    if row.points < FEWEST or not (row.loss or kind in {"accuracy", "score"}):
        return False
    if span <= FLAT * abs(row.first):
        return True
    return row.last > row.lowest + WORSE * span if row.loss else row.last < row.highest - LOST * span
