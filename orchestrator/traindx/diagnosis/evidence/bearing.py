"""Whether a place that is said to refute a piece of evidence has anything to do with it; the verdict is code's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from traindx.contract import Citation, Evidence, Value
from traindx.runtime import Task, ToolInput, ToolOutput

if TYPE_CHECKING:
    from traindx.runtime import Toolbelt

BEAR = Task("bear")
Bears = Literal["contradicts", "bears", "nothing"]
"""`contradicts`: both cannot hold; `bears`: it speaks of the same thing; `nothing`: it does not, or is not there"""


class Pair(Value):
    """A piece of evidence, and the place that is held against it."""

    support: Citation
    contrary: Citation


class Pairs(ToolInput):
    """What is to be compared."""

    pairs: list[Pair]


class Bearing(Value):
    """How one place bears on the other, and by what."""

    how: Bears = "nothing"
    why: str = ""


class Bearings(ToolOutput):
    """One verdict for each pair, in the order they were given."""

    bearings: list[Bearing] = Field(default_factory=list)


def bearings(pairs: Sequence[tuple[Evidence, Evidence]], toolbelt: Toolbelt) -> list[Bearing]:
    """The verdict on each pair of (support, contrary)."""
    if not pairs:
        return []
    asked = [Pair(support=_place(support), contrary=_place(contrary)) for support, contrary in pairs]
    result = toolbelt.run(BEAR, {"pairs": [pair.model_dump(mode="json") for pair in asked]})
    if result.status != "ok":
        # A comparison that failed has refuted nothing.
        return [Bearing(why=f"the check failed: {result.reason}")] * len(pairs)
    return Bearings.model_validate(result.output).bearings


def _place(piece: Evidence) -> Citation:
    return Citation(claim="", source=piece.source, locator=piece.locator, quote=piece.quote)
