"""What a brain concluded about one case."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from traindx.contract import RootCause, Signal, Status

_ROW = re.compile(
    r"(?:(?P<by>[\w-]+) disagrees: )?`(?P<id>[a-z0-9-]+)`(?: follows from `(?P<root>[a-z0-9-]+)`)?(?::\s*(?P<why>.*))?",
    re.DOTALL,
)


@dataclass(frozen=True)
class Excluded:
    """A cause that was considered, and why it is not the answer: what speaks against it, or what it follows from."""

    id: str
    why: str = ""
    follows_from: str = ""
    by: str = ""
    """the specialist who excludes what others name"""

    @classmethod
    def parse(cls, text: str) -> Excluded:
        """A row as a model writes it, or as a diagnosis holds it."""
        row = _ROW.fullmatch(text.strip())
        if row is None:
            return cls("", text.strip())
        return cls(row["id"], row["why"] or "", row["root"] or "", row["by"] or "")

    def __str__(self) -> str:
        if not self.id:
            return self.why
        if self.follows_from:
            return f"`{self.id}` follows from `{self.follows_from}`"
        said = f"`{self.id}`: {self.why}" if self.why else f"`{self.id}`"
        return f"{self.by} disagrees: {said}" if self.by else said


@dataclass(frozen=True)
class Contested:
    """A cause that shows no fault by itself: at the confidence that it may have if a sceptic cannot refute it."""

    cause: RootCause
    explains: str = ""
    """the proven symptom that then follows from it"""
    unasked: float = 0.0
    """its confidence where no sceptic can be asked"""


@dataclass(frozen=True)
class Findings:
    """What a brain concluded; unless it is `checked`, nothing of it has been verified yet."""

    specialist: str
    status: Status
    causes: list[RootCause] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)
    excluded: list[Excluded] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    answer: str = ""
    """to the user's own question"""
    disputed: str = ""
    """the proven lead that the model does not hold"""
    contested: list[Contested] = field(default_factory=list)
    checked: bool = False
    """whether code has opened every citation already, and bounded the confidence by what it found"""
    sections: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    """those of the notes that say which tools had nothing to look at"""
    brain: str = "local"
    """the brain whose words these are"""
    tokens: int = 0
    cost_usd: float = 0.0
