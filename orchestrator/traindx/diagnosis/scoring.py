"""Hypotheses compete for what was found: failure modes with each other, with health, and with not knowing.

Every hypothesis that a signal speaks for has a score in log-odds against knowing nothing (score 0); shares of belief
are the softmax over them. What merely follows from a likelier cause hands its share to that cause (`leads_to`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter

from traindx.contract import LIKELY, SEVERITIES, Fact, Signal
from traindx.diagnosis.catalog import TIERS, Catalog, FailureMode, Hypothesis, Speaks
from traindx.diagnosis.signals import SignalRegistry
from traindx.diagnosis.weights import Weights

UNTRIED = 0.8
"""the most that a cause may claim which no labelled run shows, unless its evidence is decisive and direct"""
UNSAID = 5.0
"""log-odds against health where the program that ran has a proven fault"""
LONE = 0.49
"""the most that a single circumstantial signal can bring about: a lead, not a cause"""
SAID = "said-"
"""what signals begin with that only the user's words show: no artifact bears them out"""
WORTH_ASKING = 0.05
"""from here on a hypothesis is worth a question when nothing is likely"""


@dataclass(frozen=True)
class Voice:
    """A signal that was found, and what it says about one hypothesis in log-odds."""

    signal: Signal
    speaks: Speaks
    weight: float


@dataclass(frozen=True)
class Belief:
    """How far the signals at hand support one hypothesis."""

    hypothesis: Hypothesis
    score: float
    probability: float
    support: tuple[Voice, ...] = ()
    against: tuple[Voice, ...] = ()
    follows: str = ""
    """the likelier cause that this merely follows from"""

    @property
    def proven(self) -> bool:
        """Whether something decisive and direct was found."""
        return any(voice.speaks.tier == "decisive" and voice.speaks.kind == "direct" for voice in self.support)

    @property
    def likely(self) -> bool:
        """Whether it is more likely than everything else together."""
        return self.probability >= LIKELY

    @property
    def facts(self) -> dict[str, Fact]:
        """The supporting signals' facts; where two name the same, the weightier signal's stands."""
        merged: dict[str, Fact] = {}
        for voice in reversed(self.support):
            merged |= voice.signal.facts
        return merged


@dataclass(frozen=True)
class Standing:
    """Where every hypothesis stands; failure modes likeliest first."""

    modes: tuple[Belief, ...]
    healthy: Belief

    def of(self, name: str) -> Belief | None:
        """One failure mode by its id."""
        return next((belief for belief in self.modes if belief.hypothesis.id == name), None)


def weigh(
    catalog: Catalog,
    signals: Iterable[Signal],
    registry: SignalRegistry,
    weights: Weights,
    without: Collection[str] = (),
) -> Standing:
    """Let all hypotheses compete for the signals, but for those that are supposed to be refuted (`without`)."""
    found = _strongest(signals)
    scored = {one.id: _scored(one, found, registry, weights) for one in catalog.hypotheses}
    if any(registry.is_proof(name) for name in found):
        # Health is never said against a fault that the program itself shows, however well the curve looks.
        well = scored[catalog.healthy.id]
        scored[catalog.healthy.id] = replace(well, score=min(well.score, -UNSAID))
    scores = {name: belief.score for name, belief in scored.items() if belief.support and name not in without}
    rules = (
        {mode.id: mode.leads_to for mode in catalog.values()},
        weights.root_bonus,
        {name for name, belief in scored.items() if any(registry.is_proof(v.signal.id) for v in belief.support)},
        {name for name, belief in scored.items() if belief.proven},
    )
    shares = compete(scores, *rules)
    harmless = {mode.id for mode in catalog.values() if mode.benign and not _shows(found, mode.shows_as)}
    # What does no harm that anyone sees or reports is no rival of health; it is still worth a remark.
    others = compete({name: score for name, score in scores.items() if name not in harmless}, *rules)
    beliefs = [
        replace(belief, probability=one.share.get(name, 0.0), follows=one.follows.get(name, ""))
        for name, belief in scored.items()
        for one in [shares if name in harmless else others]
    ]
    healthy = next(belief for belief in beliefs if belief.hypothesis.id == catalog.healthy.id)
    modes = _without_trifles([_capped(belief, beliefs, weights, found) for belief in beliefs if belief is not healthy])
    return Standing(tuple(sorted(modes, key=lambda one: (-one.probability, -one.score, one.hypothesis.id))), healthy)


@dataclass(frozen=True)
class Shares:
    """Belief by hypothesis (the rest is not knowing), and who merely follows from whom."""

    share: dict[str, float]
    follows: dict[str, str]


def compete(
    scores: Mapping[str, float],
    leads_to: Mapping[str, Sequence[str]],
    root_bonus: float,
    proven: Collection[str] = (),
    shown: Collection[str] = (),
) -> Shares:
    """The softmax over the scores and not knowing (0), after followers have handed over to their roots.

    A follower hands over the part that its roots would win against it with `root_bonus` on their side: what is far
    surer than its supposed cause stands for itself. A root that the program itself proves (`proven`) takes all of it,
    unless the follower is proven in the same way; so does one that an artifact shows for certain (`shown`), of all that
    the program does not prove.
    """
    top = max([0.0, *scores.values()])
    raw = {name: math.exp(score - top) for name, score in scores.items()}
    total = sum(raw.values()) + math.exp(-top)
    share = {name: value / total for name, value in raw.items()}
    roots: dict[str, list[str]] = {}
    for root, followers in leads_to.items():
        for follower in followers:
            if root in share and follower in share:
                roots.setdefault(follower, []).append(root)
    follows: dict[str, str] = {}
    bonus = math.exp(root_bonus)
    # Followers of followers first, so that the root of a chain gets all of it.
    for name in TopologicalSorter(
        {one: [f for f in leads_to.get(one, ()) if f in share] for one in share}
    ).static_order():
        causes = roots.get(name, [])
        strength = sum(raw[cause] for cause in causes)
        if not strength:
            continue
        certain = [cause for cause in causes if name not in proven and (cause in proven or cause in shown)]
        if certain:
            causes, strength = certain, sum(raw[cause] for cause in certain)
        handed = share[name] * (1.0 if certain else strength * bonus / (strength * bonus + raw[name]))
        for cause in causes:
            share[cause] += handed * raw[cause] / strength
        share[name] -= handed
        if certain or strength * bonus > raw[name]:
            follows[name] = max(causes, key=lambda cause: (raw[cause], cause))
    return Shares(share, follows)


def _strongest(signals: Iterable[Signal]) -> dict[str, Signal]:
    """A signal that several calls found counts once, at its strongest."""
    found: dict[str, Signal] = {}
    for signal in signals:
        held = found.get(signal.id)
        if held is None or signal.strength > held.strength:
            found[signal.id] = signal
    return found


def _scored(hypothesis: Hypothesis, found: Mapping[str, Signal], registry: SignalRegistry, weights: Weights) -> Belief:
    voices = [
        Voice(found[name], speaks, weights.of(hypothesis, name, speaks, sign) * found[name].strength)
        for name, speaks, sign in counted(hypothesis, {name: row.strength for name, row in found.items()}, registry)
    ]
    voices.sort(key=lambda voice: -abs(voice.weight))
    support = tuple(voice for voice in voices if voice.weight >= 0)
    against = tuple(voice for voice in voices if voice.weight < 0)
    score = weights.prior_of(hypothesis) + sum(voice.weight for voice in voices)
    return Belief(hypothesis, max(-30.0, min(30.0, score)), 0.0, support, against)


def counted(
    hypothesis: Hypothesis, found: Mapping[str, float], registry: SignalRegistry
) -> list[tuple[str, Speaks, int]]:
    """The signals that count for a hypothesis: of readings of the same fact only the one that says most."""
    best: dict[str, tuple[tuple[int, float], tuple[str, Speaks, int]]] = {}
    for name, speaks, sign in hypothesis.weighed():
        if name in found:
            rank = (TIERS.index(speaks.tier), found[name])
            group = registry.group(name)
            if group not in best or rank > best[group][0]:
                best[group] = (rank, (name, speaks, sign))
    return [row for _, row in best.values()]


def _capped(belief: Belief, beliefs: Sequence[Belief], weights: Weights, found: Collection[str]) -> Belief:
    """What is proven does not compete with what else is proven, nor with what is less grave; what no labelled run
    shows stays below a bar.

    How a failure mode that no labelled run shows competes is not known: proven, it competes with health alone.
    """
    probability = belief.probability
    tried = weights.tried(belief.hypothesis)
    if belief.proven:
        rivals = [other for other in beliefs if other is not belief and isinstance(other.hypothesis, FailureMode)]
        others = sum(
            other.probability
            for other in rivals
            if (other.proven or not tried or _gravity(other) < _gravity(belief))
            and not other.follows
            and not belief.follows
        )
        probability = min(1.0, probability / max(1e-9, 1.0 - others))
    elif not tried:
        probability = min(probability, UNTRIED)
    if isinstance(belief.hypothesis, FailureMode) and not _shows(found, belief.hypothesis.shows_as):
        # Weak signs of a fault whose harm is not seen say nothing.
        slight = all(voice.speaks.tier == "weak" for voice in belief.support)
        probability = 0.0 if slight else min(probability, LONE)
    if len(belief.support) == 1 and _is_a_lead(belief.support[0].speaks):
        probability = min(probability, LONE)
    if all(voice.signal.id.startswith(SAID) for voice in belief.support):
        probability = min(probability, LONE)
    return replace(belief, probability=probability)


def _without_trifles(modes: Sequence[Belief]) -> list[Belief]:
    """The same, with less grave ones as leads where something is proven: that a run could have trained longer is no
    answer to why it crashed.
    """
    proven = [one for one in modes if one.proven and one.likely and not one.follows]
    gravest = max((_gravity(one) for one in proven), default=-1)
    return [
        replace(one, probability=min(one.probability, LONE)) if not one.proven and _gravity(one) < gravest else one
        for one in modes
    ]


def _gravity(belief: Belief) -> int:
    mode = belief.hypothesis
    return SEVERITIES.index(mode.severity) if isinstance(mode, FailureMode) else -1


def _shows(found: Collection[str], signs: Sequence[str]) -> bool:
    """Whether the harm that a fault does was seen, where it is known how that shows."""
    return not signs or any(sign in found for sign in signs)


def _is_a_lead(speaks: Speaks) -> bool:
    return speaks.tier != "decisive" and speaks.kind != "direct"
