"""Marking what could be verified; the verdict is code's, never a brain's."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from traindx.contract import Citation, Evidence, RootCause, Signal, Value
from traindx.diagnosis.evidence.numbers import values_in
from traindx.runtime import Task, ToolInput, ToolOutput

if TYPE_CHECKING:
    from traindx.runtime import Toolbelt

REOPEN = Task("reopen")


def verify(causes: Sequence[RootCause], toolbelt: Toolbelt, signals: Sequence[Signal] = ()) -> list[RootCause]:
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
        for cause, rows in zip(causes, opened(causes, toolbelt, signals), strict=True)
    ]


def opened(causes: Sequence[RootCause], toolbelt: Toolbelt, signals: Sequence[Signal] = ()) -> list[list[Opened]]:
    """The verdict on every piece of evidence, cause by cause."""
    rows = iter(opened_places([piece for cause in causes for piece in cause.evidence], toolbelt, signals))
    return [[next(rows) for _ in cause.evidence] for cause in causes]


def opened_places(cited: Sequence[Evidence], toolbelt: Toolbelt, signals: Sequence[Signal] = ()) -> list[Opened]:
    """The verdict on each of these pieces."""
    if not cited:
        return []
    asked = [
        Citation(claim=piece.claim, source=piece.source, locator=piece.locator, quote=piece.quote).model_dump(
            mode="json"
        )
        for piece in cited
    ]
    said = sorted({text for signal in signals for text in (signal.claim, *(row.claim for row in signal.citations))})
    result = toolbelt.run(REOPEN, {"citations": asked, "measured": _measured(signals), "said": said})
    # A reader that failed has verified nothing: every piece then counts as unverified.
    if result.status != "ok":
        return [Opened(verified=False, why=f"the check failed: {result.reason}")] * len(cited)
    return Verdicts.model_validate(result.output).verdicts


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


class Citations(ToolInput):
    """The citations to open."""

    citations: list[Citation]
    measured: dict[str, list[float]] = Field(
        default_factory=dict, description="by file: numbers that tools have measured in it, which a claim may use"
    )
    said: list[str] = Field(default_factory=list, description="claims that tools made, word for word")


class Opened(Value):
    """Whether the quote stands where the citation says; `refuted` when that place shows that it does not."""

    verified: bool
    why: str = ""
    refuted: bool = False
    numbers: list[float] = Field(default_factory=list, description="those at the place and beside it")


class Verdicts(ToolOutput):
    """One verdict per citation, in the order they were given."""

    verdicts: list[Opened]


UNVERIFIED = 0.5
"""the most that a cause may claim when none of its evidence could be verified"""
DIRECT = 0.9
"""from here on direct evidence is needed: the faulty line, the spike at the very step, the error text itself"""
CEILING = 0.98
"""nothing read from artifacts alone is certain"""


def judged(cause: RootCause, *, refuted: bool = False) -> RootCause:
    """The cause with its confidence capped; what could not be verified lowers it.

    `refuted`: a piece of its support was opened and is not what stands there. Whoever makes one thing up is not
    believed on the others either.
    """
    support = [piece for piece in cause.evidence if piece.kind != "contrary"]
    verified = [piece for piece in support if piece.verified]
    ceiling = CEILING
    if not verified or refuted:
        ceiling = UNVERIFIED
    elif not any(piece.kind == "direct" for piece in verified):
        ceiling = DIRECT - 0.01
    share = len(verified) / len(support) if support else 1.0
    confidence = min(cause.confidence * (0.5 + 0.5 * share), ceiling)
    return cause.model_copy(update={"confidence": round(confidence, 2)})
