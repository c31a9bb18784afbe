"""From a message and the artifacts to a request: what it is about, and who looks at it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from traindx.contract import ContextPackage
from traindx.contract.request import AgentBrief, Mentions, Ranked, Reported, Request
from traindx.pipeline.request.clauses import excerpt, plainly, sentences
from traindx.pipeline.request.lexicon import PHRASES, TRADE, VAGUE
from traindx.pipeline.request.matching import PhraseMatch, match_phrases, tally
from traindx.pipeline.request.mentions import epochs, known_errors, mentions, quantities, steps
from traindx.pipeline.request.observed import Observation, observations
from traindx.pipeline.request.routing import rank
from traindx.pipeline.request.words import is_english, words
from traindx.vocabulary.kinds import KINDS

ELSEWHERE, UNCLEAR = "not-about-training", "unclear"
_PURPOSE = (
    "traindx finds out why a machine-learning training run went wrong: give it a run folder and say what you see, "
    "for example \u201cthe loss went up after epoch 7\u201d."
)
_ENOUGH = 0.5
"""points below which nothing was said"""
_STRONG = 1.5
_ASKS = re.compile(
    r"\W*(?:how|what|who|when|where|which|can|could|would|please|tell|give|show|find|plan|book|buy|order|recommend"
    r"|write|create|make|draw|i (?:want|need|would like))\b"
)
_ORDER = {name: index for index, name in enumerate(KINDS)}


def understand(message: str, context: ContextPackage | None = None, specialists: Sequence[AgentBrief] = ()) -> Request:
    """Read a request: its kind, its symptoms, what it names, and the specialists for it, best first."""
    text = excerpt(message)
    parts = sentences(text)
    matches = match_phrases(parts)
    named = mentions(text, parts)
    said, seen = tally(matches), observations(context)
    if _is_elsewhere(said, text, named, seen):
        return _elsewhere(message, named)
    said.pop(ELSEWHERE, None)
    shown: dict[str, float] = {}
    for item in seen:
        shown[item.kind] = max(shown.get(item.kind, 0.0), item.points)
    points = {kind: said.get(kind, 0.0) + shown.get(kind, 0.0) for kind in {**said, **shown}}
    kind = _leading(points)
    ranking = rank(points, matches, context, text, specialists)
    return Request(
        message=message,
        kind=kind,
        about_training=True,
        symptoms=symptoms(matches, named, seen, text),
        mentions=named,
        ranking=ranking,
        reason=_reason(kind, said, matches, seen, ranking),
        reported=tuple(_reported(matches)),
    )


def compile_phrases() -> None:
    """Make ready what messages are searched for."""
    for phrase in PHRASES:
        _ = phrase.pattern
    known_errors()


def _leading(points: Mapping[str, float]) -> str:
    best = min(points, key=lambda kind: (-points[kind], _ORDER[kind]), default=UNCLEAR)
    return best if points.get(best, 0.0) >= _ENOUGH else UNCLEAR


def _is_elsewhere(said: Mapping[str, float], text: str, named: Mentions, seen: Sequence[Observation]) -> bool:
    """Off the subject by its words; or plain English without one word of the trade and nothing to look at."""
    off = said.get(ELSEWHERE, 0.0)
    # Beside a folder with curves in it, "what is the period from?" is a question about the curves, and an accuracy
    # that "is a joke" is no joke.
    if seen and TRADE.search(plainly(text)):
        return False
    if off > (_STRONG if seen else 0.0):
        return off > max((value for kind, value in said.items() if kind != ELSEWHERE), default=0.0)
    plain = plainly(text)
    if seen or named.errors or max(said.values(), default=0.0) >= _ENOUGH:
        return False
    return bool(_ASKS.match(plain)) and is_english(text) and not TRADE.search(plain) and not VAGUE.search(plain)


def _elsewhere(message: str, named: Mentions) -> Request:
    ranking = (Ranked(KINDS[ELSEWHERE].leads, 0.0, "nothing to investigate"),)
    reason = f"This is not a question about a training run. {_PURPOSE}"
    return Request(message, ELSEWHERE, False, (), named, ranking, reason)


def _reason(
    kind: str,
    said: Mapping[str, float],
    matches: Sequence[PhraseMatch],
    seen: Sequence[Observation],
    ranking: Sequence[Ranked],
) -> str:
    if kind == UNCLEAR:
        return f"Neither the message nor the artifacts say what is wrong. {_PURPOSE}"
    words = [item.words for item in matches if kind in item.phrase.kinds and item.weight >= 0.5]
    shown = [item.sentence for item in seen if item.kind == kind]
    grounds = []
    if words and said.get(kind, 0.0) >= _ENOUGH:
        grounds.append(f"you say \u201c{words[0][:60]}\u201d")
    elif said.get(kind, 0.0):
        grounds.append("you suspect it")
    if shown:
        grounds.append(f"the artifacts show: {shown[0]}")
    return f"Taken as {kind} ({KINDS[kind].meaning}): {'; '.join(grounds)}. First: {ranking[0].specialist}."


_MOST = 8
_TELLING = 2.0
"""points from which a phrase is a symptom of its own rather than a hint"""
_SHOWN = 1.2
"""points from which an artifact shows trouble, rather than being something to look at"""
_WITH_NUMBERS = words("divergence oscillation plateau not-learning overfitting check-up evaluation forgetting")
_MEASURED = re.compile(r"loss|acc|perplexity|ppl|mse|mae|error|f1|auc|reward|kl")
_DURATION = re.compile(r"\d[km]? (?:steps|iterations|iters|batches|updates)\b", re.I)


def symptoms(
    matches: Sequence[PhraseMatch], mentions: Mentions, seen: Sequence[Observation], message: str
) -> tuple[str, ...]:
    """What the user reports, else what the artifacts show, else the message in its own words."""
    reported = [*(row.said for row in _reported(matches)), *mentions.errors[:5]]
    if not reported:
        reported = [item.sentence for item in seen if item.points >= _SHOWN]
    if not reported and (said := " ".join(message[:2000].split())):
        reported = [f"Reported: {said[:160]}"]
    return tuple(dict.fromkeys(reported))[:_MOST]


def _reported(matches: Sequence[PhraseMatch]) -> list[Reported]:
    best: dict[str, tuple[float, str]] = {}
    for item in matches:
        if not item.observed or not item.phrase.kinds or item.phrase.cause:
            continue
        kind, weight = max(item.phrase.kinds.items(), key=lambda pair: pair[1])
        sentence = item.phrase.says or KINDS[kind].symptom
        if weight >= _TELLING and sentence and weight > best.get(kind, (0.0, ""))[0]:
            best[kind] = (weight, sentence + _place(item.sentence) + _numbers(kind, item.sentence))
    return [Reported(kind, sentence) for kind, (_, sentence) in sorted(best.items(), key=lambda pair: -pair[1][0])]


def _place(sentence: str) -> str:
    step, epoch = next(steps(sentence), None), next(epochs(sentence), None)
    if epoch is not None:
        return f" after {epoch:g} epochs" if f"{epoch:g} epochs" in sentence else f" at epoch {epoch:g}"
    if step is None:
        return ""
    return f" after {step} steps" if _DURATION.search(sentence) else f" at step {step}"


def _numbers(kind: str, sentence: str) -> str:
    if kind not in _WITH_NUMBERS:
        return ""
    measured = [item for item in quantities(sentence) if _MEASURED.search(item.name)]
    named = [f"{item.name} {item.value:g}{item.unit}" for item in measured]
    return f" ({', '.join(named[:4])})" if named else ""
