"""One failure mode: what speaks for it, what it leads to, how it is worded and fixed."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from traindx.contract import Severity

HEADINGS = (
    "What it is",
    "How it shows",
    "How to tell it from its neighbours",
    "Fix",
    "Verify",
    "If that fails",
)


class Weight(BaseModel):
    """How strongly a signal speaks, in log-odds at full strength; below zero it speaks against."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    weight: float
    kind: Literal["direct", "circumstantial"] = "circumstantial"


class FixWording(BaseModel):
    """Alternatives for each part of a fix; the first whose values are all known is used."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    summary: tuple[str, ...] = Field(min_length=1)
    expected: tuple[str, ...] = Field(min_length=1)
    verify: tuple[str, ...] = Field(min_length=1)
    fallback: tuple[str, ...] = Field(min_length=1)


class Evidenced(BaseModel):
    """Anything the local mind can believe: a prior and the signals that move it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    prior: float = Field(description="log-odds before any signal: how rare the cause is among runs people ask about")
    signals: dict[str, Weight]

    @field_validator("signals", mode="before")
    @classmethod
    def _plain_numbers(cls, given: object) -> object:
        """`loss-diverged: 1.5` is short for `{weight: 1.5}`."""
        if not isinstance(given, dict):
            return given
        return {key: {"weight": row} if isinstance(row, int | float) else row for key, row in given.items()}


class FailureMode(Evidenced):
    """A failure mode as its file declares it."""

    title: str
    specialist: str
    severity: Severity
    leads_to: tuple[str, ...] = Field(default=(), description="failure modes that merely follow from this one")
    set_by: tuple[str, ...] = Field(
        default=(),
        description="names of settings that bring it about; those that the run has are cited, first come first",
    )
    issue: tuple[str, ...] = Field(min_length=1)
    fix: FixWording
    asks: tuple[str, ...] = Field(min_length=1, description="the cheapest observations that would settle it")
    body: str = ""
