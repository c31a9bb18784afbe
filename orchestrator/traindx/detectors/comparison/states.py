"""The states of the code that two runs tell of."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.detectors.comparison.difference import Difference
from traindx.readers.code.git import GitState


def git_differences(good: Sequence[GitState], bad: Sequence[GitState], quote: str) -> list[Difference]:
    """Another commit, or uncommitted changes in one of the two; `quote` is the line that names the bad run's state."""
    if not good or not bad:
        return []
    one, other = good[0], bad[0]
    found = []
    if one.commit and other.commit and not _same(one.commit, other.commit):
        reason = "another commit: see the code that changed, or compare the two commits"
        found.append(_difference("commit", one.commit[:12], other.commit[:12], 0.55, reason, other, quote))
    if _dirt(one) != _dirt(other) and None not in (one.dirty, other.dirty):
        reason = "uncommitted changes in one of the two: the commit does not show what ran"
        found.append(_difference("uncommitted changes", _dirt(one), _dirt(other), 0.6, reason, other, quote))
    return found


def _same(one: str, other: str) -> bool:
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def _dirt(state: GitState) -> str:
    if not state.dirty:
        return "none"
    return ", ".join(state.changed[:5]) or "some"


def _difference(
    name: str, good: str, other: str, suspicion: float, reason: str, state: GitState, quote: str
) -> Difference:
    return Difference("git", name, good, other, suspicion, reason, state.source, state.line if quote else 0, quote)
