"""The confidence policy: how sure an answer may be, given what could be opened."""

from __future__ import annotations

from traindx.contract import RootCause

UNVERIFIED = 0.5
"""the most that a cause may claim when none of its evidence could be verified"""
DIRECT = 0.9
"""from here on direct evidence is needed: the faulty line, the spike at the very step, the error text itself"""
CEILING = 0.98
"""nothing read from artifacts alone is certain"""


def judged(cause: RootCause, *, refuted: bool = False) -> RootCause:
    """The cause with its confidence capped; what could not be verified lowers it.

    `refuted`: a piece of its support was opened and is not what stands there. Whoever makes one thing up is not
    believed on the others either.
    """
    support = [piece for piece in cause.evidence if piece.kind != "contrary"]
    verified = [piece for piece in support if piece.verified]
    ceiling = CEILING
    if not verified or refuted:
        ceiling = UNVERIFIED
    elif not any(piece.kind == "direct" for piece in verified):
        ceiling = DIRECT - 0.01
    share = len(verified) / len(support) if support else 1.0
    confidence = min(cause.confidence * (0.5 + 0.5 * share), ceiling)
    return cause.model_copy(update={"confidence": round(confidence, 2)})
