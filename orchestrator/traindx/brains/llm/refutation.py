"""A refutation: it names the evidence that falls, and code compares what stands at the two places."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from traindx.brains.interface import Case
from traindx.brains.llm.injection import reads_like_an_order
from traindx.contract import Evidence, RootCause
from traindx.diagnosis.evidence.bearing import Bearing, bearings


@dataclass(frozen=True)
class Against:
    """A place that someone holds against a piece of a cause's evidence."""

    refutes: str
    piece: Evidence
    """of the kind `contrary`"""


@dataclass(frozen=True)
class Weighed:
    """What the places that were held against a cause come to."""

    contrary: Sequence[Evidence] = ()
    """those that bear on its evidence, opened by code"""
    overturned: bool = False
    """whether all that it directly rests on is contradicted"""
    why: str = ""

    @property
    def bears(self) -> bool:
        """Whether any of them has to do with the cause."""
        return bool(self.contrary)


async def weighed(cause: RootCause, against: Sequence[Against], case: Case) -> Weighed:
    """Compare each place with the evidence that it names; a place that names none has refuted nothing."""
    support = [piece for piece in cause.evidence if piece.kind != "contrary"]
    pairs = [
        (held, one.piece)
        for one in against
        if not reads_like_an_order(one.piece.quote)
        for held in support
        if names(one.refutes, held)
    ]
    verdicts = await asyncio.to_thread(bearings, pairs, case.toolbelt)
    found = [(held, piece, row) for (held, piece), row in zip(pairs, verdicts, strict=True) if row.how != "nothing"]
    fallen = [held for held, _, row in found if row.how == "contradicts"]
    direct = [piece for piece in support if piece.kind == "direct"]
    rests_on = direct or support
    contrary = {(piece.source, piece.locator): piece.model_copy(update={"verified": True}) for _, piece, _ in found}
    return Weighed(
        contrary=list(contrary.values()),
        overturned=bool(fallen) and (all(one in fallen for one in direct) if direct else bool(rests_on)),
        why=_first([row for _, _, row in found]),
    )


def names(said: str, piece: Evidence) -> bool:
    """Whether the words name this piece: its file with its place, or its quote."""
    text = " ".join(said.split()).strip("` ")
    if not text:
        return False
    if piece.quote and len(piece.quote.strip()) >= 4 and piece.quote.strip() in said:
        return True
    place = piece.place[1]
    file = piece.source.rsplit("/", 1)[-1]
    return bool(place) and place in text and file in text


def _first(rows: Sequence[Bearing]) -> str:
    return next((row.why for row in rows if row.how == "contradicts"), rows[0].why if rows else "")
