"""What a published rule is: a name, where it was published, and what its verdicts mean in our words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from baselines.seen import Seen


@dataclass(frozen=True)
class Rule:
    """A detector. `judge` answers with its verdicts, the one it would show first at the front; none is "no issue".

    `means` lists for every verdict the failure modes that it naturally stands for. Most verdicts are symptoms ("loss
    not decreasing"): they count as right when the true cause is any of those that show this way, although a user would
    still have to find out which.
    """

    name: str
    source: str
    means: Mapping[str, frozenset[str]]
    judge: Callable[[Seen], list[str]]

    def named(self, seen: Seen) -> list[frozenset[str]]:
        """What the verdicts on a run mean, the first one first."""
        return [self.means[verdict] for verdict in self.judge(seen)]


def meaning(*causes: str) -> frozenset[str]:
    """The failure modes behind a verdict."""
    return frozenset(causes)
