"""Which specialists look at a request, best first."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from traindx.contract import ContextPackage
from traindx.contract.request import AgentBrief, Ranked
from traindx.pipeline.request.matching import PhraseMatch
from traindx.pipeline.request.words import words
from traindx.vocabulary.kinds import DEBUGGER, KINDS, SPECIALISTS, STATE

_LEAD, _FOLLOW = 1.0, 0.45
_MEANINGFUL = 0.15
"""share of all points below which a specialist is not worth its time"""

_NOT_RECURRENT = 0.4
"""what is left of the state specialist's claim when the code was read and holds no recurrence"""


@dataclass(frozen=True)
class _Lean:
    """A property of the code that draws a specialist in, for the kinds in which it can be the cause."""

    trait: str
    kinds: frozenset[str]
    specialist: str
    share: float
    because: str
    spoken: bool = False
    """the message may establish the trait, where no code was read"""


_STATE_KINDS = words("out-of-memory state-handling not-learning plateau review unclear crash training-code")
_CODE_KINDS = words("not-learning review training-code evaluation non-finite data crash mode-collapse")
_CURVE_KINDS = words("non-finite divergence exploding-gradients vanishing-gradients")
_LEANS = (
    _Lean("recurrent", words("memory-growth"), STATE, 0.8, "memory grows in recurrent code", spoken=True),
    _Lean("recurrent", _STATE_KINDS, STATE, 0.5, "the code is recurrent"),
    _Lean("recurrent", _CURVE_KINDS, STATE, 0.25, "the code is recurrent"),
    _Lean("training-loop", _CODE_KINDS, DEBUGGER, 0.25, "the training loop can be read"),
    _Lean("gan", frozenset(KINDS), DEBUGGER, 0.25, "the code is a GAN"),
)

_TOKEN = re.compile(r"[a-z][a-z0-9-]{3,}")
# Words that any description and any message about training may share.
_COMMON = words(
    """
    about after agent also analyze because before been check code data debug debugger diagnose does during else
    epoch error errors every from have help into issue issues just learn learning like look loss make model models
    more network only over please problem problems project results review run runs same should some specialist
    specialists such than that their them then there these this train trained training trains user users uses using
    very want what when where which while will with work working wrong your
    """
)


def rank(
    points: Mapping[str, float],
    matches: Sequence[PhraseMatch],
    context: ContextPackage | None,
    message: str,
    briefs: Sequence[AgentBrief],
) -> tuple[Ranked, ...]:
    """Specialists by how much of the request is theirs; at least one, the others where their share is meaningful."""
    scores: dict[str, float] = dict.fromkeys(SPECIALISTS, 0.0)
    because: dict[str, list[str]] = {name: [] for name in SPECIALISTS}
    traits = frozenset(context.traits) if context else frozenset()
    recurrent = "recurrent" in traits or any(STATE in item.phrase.leans for item in matches)
    for kind, value in sorted(points.items(), key=lambda item: -item[1]):
        row = KINDS[kind]
        for name, share in ((row.leads, _LEAD), *((follower, _FOLLOW) for follower in row.follows)):
            if name == STATE and share == _FOLLOW and not recurrent:
                continue
            scores[name] += share * value
            if share == _LEAD:
                because[name].append(row.meaning)
    _lean(scores, because, points, matches, traits)
    if traits and "recurrent" not in traits:
        scores[STATE] *= _NOT_RECURRENT
    for brief in briefs:
        if brief.name not in SPECIALISTS:
            shared = _shared(brief.description, message)
            scores[brief.name] = 1.5 * len(shared)
            because[brief.name] = [f"its description mentions {', '.join(shared[:4])}"] if shared else []
    return _ranked(scores, because)


def _lean(
    scores: dict[str, float], because: dict[str, list[str]], points: Mapping[str, float],
    matches: Sequence[PhraseMatch], traits: frozenset[str],
) -> None:  # fmt: skip
    for item in matches:
        for name, weight in item.phrase.leans.items():
            scores[name] += weight * item.weight
            because[name].append(f"you mention \u201c{item.words[:40]}\u201d")
    for lean in _LEANS:
        ground = sum(value for kind, value in points.items() if kind in lean.kinds)
        spoken = lean.spoken and not traits and any(lean.specialist in item.phrase.leans for item in matches)
        if ground and (lean.trait in traits or spoken):
            scores[lean.specialist] += lean.share * ground
            because[lean.specialist].append(lean.because)


def _shared(description: str, message: str) -> list[str]:
    """Words of weight that a description and a message have in common, compared without their endings."""
    wanted = {_stem(word): word for word in _TOKEN.findall(description.lower()) if word not in _COMMON}
    said = {_stem(word) for word in _TOKEN.findall(message.lower()) if word not in _COMMON}
    return [word for stem, word in wanted.items() if stem in said]


def _stem(word: str) -> str:
    return re.sub(r"(?:ings?|ed|es|s)$", "", word)


def _ranked(scores: Mapping[str, float], because: Mapping[str, list[str]]) -> tuple[Ranked, ...]:
    total = sum(scores.values())
    if total <= 0:
        return (Ranked(DEBUGGER, 0.0, "nothing points to a specialist: the generalist looks first"),)
    order = sorted(scores, key=lambda name: -scores[name])
    kept = [name for index, name in enumerate(order) if index == 0 or scores[name] >= _MEANINGFUL * total]
    return tuple(Ranked(name, int(1000 * scores[name] / total) / 1000, _reason(name, because[name])) for name in kept)


def _reason(name: str, because: Sequence[str]) -> str:
    role = SPECIALISTS.get(name, "a specialist of your own")
    grounds = "; ".join(dict.fromkeys(because[:3]))
    return f"{role}: {grounds}" if grounds else f"{role}: may follow up"
