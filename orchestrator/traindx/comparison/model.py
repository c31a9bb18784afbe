"""A difference between two runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LONGEST_QUOTE = 240


@dataclass(frozen=True)
class Difference:
    """What is not the same; `source` and `line` are the place in the bad run, or in the good one where it is gone."""

    kind: Literal["setting", "code", "git"]
    name: str
    good: str
    bad: str
    suspicion: float
    """from 0 to 1: how likely it is to explain a different outcome"""
    reason: str
    source: str = ""
    line: int = 0
    quote: str = ""
    diff: str = ""
    in_bad: bool = True
