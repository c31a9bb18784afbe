"""What the worker is asked for, and what it answers."""

from __future__ import annotations

from pydantic import Field

from traindx.contract import Fact, Value
from traindx.runtime import Task, ToolInput, ToolOutput

PATCH = Task("patch")


class NewValue(Value):
    """A setting, where it stands, and what it should be."""

    source: str
    line: int
    key: str
    old: Fact
    new: Fact


class Wanted(ToolInput):
    """New values of settings, or a rewriting of code with the facts it is made from."""

    values: list[NewValue] = Field(default_factory=list)
    code: str = ""
    facts: dict[str, Fact] = Field(default_factory=dict)


class Patched(ToolOutput):
    """The diff, or why there is none."""

    diff: str = ""
    did: str = Field(default="", description="what a rewriting of code does, in one sentence")
    places: list[str] = Field(default_factory=list, description="where the new values stand, as people are told of it")
    why_not: str = ""
