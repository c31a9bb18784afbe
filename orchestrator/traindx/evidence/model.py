"""The question which citations hold, and its answer."""

from __future__ import annotations

from traindx.contract import Citation, Value
from traindx.toolbelt import ToolInput, ToolOutput


class Question(ToolInput):
    """The citations to open."""

    citations: list[Citation]


class Opened(Value):
    """Whether the quote stands where the citation says."""

    verified: bool
    why: str = ""


class Verdicts(ToolOutput):
    """One verdict per citation, in the order they were given."""

    verdicts: list[Opened]
