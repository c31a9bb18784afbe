"""The states of the code that two runs tell of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from traindx.readers import Run
from traindx.readers.code.git import GitState


def git_differences(good: Run, bad: Run) -> list[Difference]:
    """Another commit, or uncommitted changes in one of the two."""
    if not good.git or not bad.git:
        return []
    one, other = good.git[0], bad.git[0]
    found = []
    if one.commit and other.commit and not _same(one.commit, other.commit):
        reason = "another commit: see the code that changed, or compare the two commits"
        found.append(_difference(bad, "commit", one.commit[:12], other.commit[:12], 0.55, reason, other))
    if _dirt(one) != _dirt(other) and None not in (one.dirty, other.dirty):
        reason = "uncommitted changes in one of the two: the commit does not tell what ran"
        found.append(_difference(bad, "uncommitted changes", _dirt(one), _dirt(other), 0.6, reason, other))
    return found


def _same(one: str, other: str) -> bool:
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def _dirt(state: GitState) -> str:
    if not state.dirty:
        return "none"
    return ", ".join(state.changed[:5]) or "some"


def _difference(
    bad: Run, name: str, good: str, other: str, suspicion: float, reason: str, state: GitState
) -> Difference:
    text = bad.lines(state.source, state.line, state.line) if not state.source.startswith(".git") else []
    quote = text[0].strip()[:LONGEST_QUOTE] if text else ""
    return Difference("git", name, good, other, suspicion, reason, state.source, state.line if quote else 0, quote)


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
