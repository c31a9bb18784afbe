"""Marking what could be verified; the verdict is code's, never a brain's."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from traindx.contract import Citation, RootCause, Signal
from traindx.evidence.model import Opened, Verdicts
from traindx.evidence.numbers import values_in
from traindx.evidence.policy import judged
from traindx.toolbelt import Belt

REOPEN = "traindx.evidence.reopen:reopen"


def verify(causes: Sequence[RootCause], belt: Belt, signals: Sequence[Signal] = ()) -> list[RootCause]:
    """The causes with every citation opened again and the confidence capped by what was found.

    `signals` are what tools have found: a claim may use the numbers they measured in the file it cites.
    """
    return [
        judged(
            cause.model_copy(
                update={
                    "evidence": [
                        piece.model_copy(update={"verified": row.verified})
                        for piece, row in zip(cause.evidence, rows, strict=True)
                    ]
                }
            ),
            refuted=any(
                row.refuted for piece, row in zip(cause.evidence, rows, strict=True) if piece.kind != "contrary"
            ),
        )
        for cause, rows in zip(causes, opened(causes, belt, signals), strict=True)
    ]


def opened(causes: Sequence[RootCause], belt: Belt, signals: Sequence[Signal] = ()) -> list[list[Opened]]:
    """The verdict on every piece of evidence, cause by cause."""
    cited = [piece for cause in causes for piece in cause.evidence]
    if not cited:
        return [[] for _ in causes]
    question = [
        Citation(claim=piece.claim, source=piece.source, locator=piece.locator, quote=piece.quote).model_dump(
            mode="json"
        )
        for piece in cited
    ]
    said = sorted({text for signal in signals for text in (signal.claim, *(row.claim for row in signal.citations))})
    result = belt.call(REOPEN, {"citations": question, "measured": _measured(signals), "said": said})
    # A reader that failed has verified nothing: every piece then counts as unverified.
    verdicts = (
        Verdicts.model_validate(result.output).verdicts
        if result.status == "ok"
        else [Opened(verified=False, why=f"the check failed: {result.reason}")] * len(cited)
    )
    rows = iter(verdicts)
    return [[next(rows) for _ in cause.evidence] for cause in causes]


def _measured(signals: Sequence[Signal]) -> dict[str, list[float]]:
    """The numbers that tools found, by the files they cite."""
    found: dict[str, list[float]] = {}
    for signal in signals:
        numbers = [value for value in _numbers(signal) if math.isfinite(value)]
        for source in {place.source for place in signal.citations}:
            held = found.setdefault(source, [])
            held += [value for value in numbers if value not in held]
    return found


def _numbers(signal: Signal) -> Iterator[float]:
    yield from values_in(signal.claim)
    for fact in signal.facts.values():
        if isinstance(fact, str):
            yield from values_in(fact)
        else:
            yield float(fact)
    for place in signal.citations:
        yield from values_in(place.claim)
        yield from values_in(place.quote)
