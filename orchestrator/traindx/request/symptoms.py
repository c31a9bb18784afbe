"""Symptoms as short sentences, made of what the message itself says."""

from __future__ import annotations

import re
from collections.abc import Sequence

from traindx.request.figures import epochs, quantities, steps
from traindx.request.hearing import Heard
from traindx.request.kinds import KINDS
from traindx.request.model import Mentions
from traindx.request.observed import Observation
from traindx.request.words import words

_MOST = 8
_TELLING = 2.0
"""points from which a phrase is a symptom of its own rather than a hint"""
_SHOWN = 1.2
"""points from which an artifact shows trouble, rather than being something to look at"""
_WITH_NUMBERS = words("divergence oscillation plateau not-learning overfitting check-up evaluation forgetting")
_MEASURED = re.compile(r"loss|acc|perplexity|ppl|mse|mae|error|f1|auc|reward|kl")
_DURATION = re.compile(r"\d[km]? (?:steps|iterations|iters|batches|updates)\b", re.I)


def symptoms(heard: Sequence[Heard], mentions: Mentions, seen: Sequence[Observation], message: str) -> tuple[str, ...]:
    """What the user reports, else what the artifacts show, else the message in its own words."""
    reported = [*_reported(heard), *mentions.errors[:5]]
    if not reported:
        reported = [item.sentence for item in seen if item.points >= _SHOWN]
    if not reported and (said := " ".join(message[:2000].split())):
        reported = [f"Reported: {said[:160]}"]
    return tuple(dict.fromkeys(reported))[:_MOST]


def _reported(heard: Sequence[Heard]) -> list[str]:
    best: dict[str, tuple[float, str]] = {}
    for item in heard:
        if not item.observed or not item.phrase.kinds or item.phrase.cause:
            continue
        kind, weight = max(item.phrase.kinds.items(), key=lambda pair: pair[1])
        sentence = item.phrase.says or KINDS[kind].symptom
        if weight >= _TELLING and sentence and weight > best.get(kind, (0.0, ""))[0]:
            best[kind] = (weight, sentence + _place(item.sentence) + _numbers(kind, item.sentence))
    return [sentence for _, sentence in sorted(best.values(), key=lambda pair: -pair[0])]


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
