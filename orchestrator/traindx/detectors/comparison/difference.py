"""Something that is not the same in two runs, and which of several such things comes first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal


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


def by_suspicion(found: Iterable[Difference]) -> list[Difference]:
    """The likeliest first; a changed constant, which is a setting and a line of code, is told once."""
    rows = list(found)
    told = {(row.source, row.line) for row in rows if row.kind == "setting" and row.in_bad}
    kept = [
        row for row in rows if row.kind != "code" or (row.source, row.line) not in told or not row.bad.startswith("1 ")
    ]
    return sorted(kept, key=lambda row: (-row.suspicion, row.kind, row.name))
