"""The question which citations hold, and its answer."""

from __future__ import annotations

from pydantic import Field

from traindx.contract import Citation, Value
from traindx.toolbelt import ToolInput, ToolOutput


class Question(ToolInput):
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


class Verdicts(ToolOutput):
    """One verdict per citation, in the order they were given."""

    verdicts: list[Opened]
