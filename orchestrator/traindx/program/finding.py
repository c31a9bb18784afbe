"""What a rule finds in a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from traindx.contract import Fact
from traindx.program.values import Place


@dataclass(frozen=True)
class Finding:
    """A fault, the place that holds it, and how far the program proves it."""

    rule: str
    """the failure mode's id"""
    place: Place
    claim: str
    proven: bool = True
    facts: Mapping[str, Fact] = field(default_factory=dict)
    also: tuple[tuple[Place, str], ...] = ()
    """other places that belong to it, with what each shows"""
