"""Signals: what a tool found, with the places one can open to see it."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import Field

from traindx.contract.value import Value

Fact = bool | int | float | str


class Citation(Value):
    """A place that can be opened again: a file, where in it, and what stands there."""

    claim: str = Field(description="what this place shows, in one sentence")
    source: str = Field(description="path relative to the run folder")
    locator: str = Field(
        default="",
        description="`line 41`, `lines 38-44`, `line 41, epoch 7`, `cell 7, line 3` (of a notebook), "
        "`step 300 of train/loss`, `tensor encoder.weight`, `key scaler.scale` (of a checkpoint)",
    )
    quote: str = Field(default="", description="the exact text or number found there")


class SignalKind(NamedTuple):
    """What a signal means. Signals of one `group` are readings of the same fact at different strength: of those that
    a run shows, only the one that says most counts.
    """

    meaning: str
    group: str = ""
    proof: bool = False
    """whether it shows a fault of the program itself: no curve makes such a run healthy"""


class Signal(Value):
    """One finding of one tool. The catalog says which causes it speaks for and against."""

    id: str = Field(description="from the tool's declared vocabulary, e.g. `lr-raised-at-onset`")
    claim: str = Field(description="the finding in one sentence, with its numbers")
    strength: float = Field(default=1.0, ge=0.0, le=1.0, description="how clearly it shows; scales its weight")
    citations: list[Citation] = Field(default_factory=list)
    facts: dict[str, Fact] = Field(default_factory=dict, description="named values that fixes are written with")
    tool: str = ""
