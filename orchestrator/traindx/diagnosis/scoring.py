"""Weighing signals: log-odds for and against, root before cascade."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from traindx.contract import LIKELY, Fact, Signal
from traindx.diagnosis.catalog import Evidenced, FailureMode, Weight

SHARPNESS = 1.5
"""the catalog's weights are set with caution: over the labelled corpus the causes named are right more often than their
plain log-odds say, and this one factor for all of them brings the calibration error below a tenth"""
FAR_SURER = 2.5
WORTH_ASKING = 0.05
"""from here on a hypothesis is worth a question when nothing is likely"""


@dataclass(frozen=True)
class Belief:
    """How far the signals at hand support one hypothesis."""

    hypothesis: Evidenced
    log_odds: float
    support: tuple[tuple[Signal, Weight], ...]
    against: tuple[tuple[Signal, Weight], ...]

    @property
    def probability(self) -> float:
        """The log-odds as a probability; one half stays one half."""
        return 1.0 / (1.0 + math.exp(-SHARPNESS * self.log_odds))

    @property
    def facts(self) -> dict[str, Fact]:
        """The supporting signals' facts; where two name the same, the weightier signal's stands."""
        merged: dict[str, Fact] = {}
        for signal, _ in reversed(self.support):
            merged |= signal.facts
        return merged


def believe(hypothesis: Evidenced, signals: Iterable[Signal]) -> Belief:
    """Add up what the signals say. A signal that several calls found counts once, at its strongest."""
    strongest: dict[str, Signal] = {}
    for signal in signals:
        held = strongest.get(signal.id)
        if held is None or signal.strength > held.strength:
            strongest[signal.id] = signal
    heard = [(strongest[name], weight) for name, weight in hypothesis.signals.items() if name in strongest]
    log_odds = hypothesis.prior + sum(weight.weight * signal.strength for signal, weight in heard)
    ordered = sorted(heard, key=lambda pair: -abs(pair[1].weight * pair[0].strength))
    return Belief(
        hypothesis=hypothesis,
        log_odds=max(-30.0, min(30.0, log_odds)),
        support=tuple(pair for pair in ordered if pair[1].weight > 0),
        against=tuple(pair for pair in ordered if pair[1].weight < 0),
    )


def roots_and_followers(
    beliefs: Sequence[Belief], catalog: Mapping[str, FailureMode]
) -> tuple[list[Belief], list[tuple[Belief, str]]]:
    """Split likely causes into roots and those that merely follow from a root, each with that root's id."""
    # What is far surer than its supposed cause stands for itself.
    likely = sorted((b for b in beliefs if b.probability >= LIKELY), key=lambda b: (-b.log_odds, b.hypothesis.id))
    sure = {belief.hypothesis.id: belief.log_odds for belief in likely}
    roots, followers = [], []
    for belief in likely:
        name = belief.hypothesis.id
        cause = next(
            (
                other
                for other, odds in sure.items()
                if name in catalog[other].leads_to and name != other and odds > belief.log_odds - FAR_SURER
            ),
            None,
        )
        if cause is None:
            roots.append(belief)
        else:
            followers.append((belief, cause))
    return roots, followers
