"""What a brain concluded about one case."""

from __future__ import annotations

from dataclasses import dataclass, field

from traindx.contract import RootCause, Signal, Status


@dataclass(frozen=True)
class Findings:
    """What a brain concluded, before any of it is verified."""

    specialist: str
    status: Status
    causes: list[RootCause] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    sections: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    """those of the notes that say which tools had nothing to look at"""
    brain: str = "local"
    """the brain whose words these are"""
    tokens: int = 0
    cost_usd: float = 0.0
