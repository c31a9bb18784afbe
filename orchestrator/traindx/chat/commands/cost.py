"""`/cost`: what the chat has used."""

from __future__ import annotations

from traindx.chat.talk import Talk


async def carry(talk: Talk, _rest: str) -> str:
    """Tokens and dollars of the whole chat, and what is left."""
    mind = talk.session.claude
    said = f"{talk.tokens:,} tokens, ${talk.cost_usd:.4f} in this chat"
    if mind is None:
        return (
            f"{said}: the local investigator costs nothing."
            if not talk.tokens
            else f"{said}, from before it was resumed."
        )
    led = [name for name in talk.diagnosis.request.specialists if name in mind.investigations]
    purse = mind.investigations[led[0]].conversation.budget if led else None
    if purse is not None and not purse.priced:
        return f"{said}; the price of `{purse.model}` is not known."
    limit = talk.purse
    left = (
        f"; ${max(0.0, limit - (talk.cost_usd - talk.cost_of_earlier)):.4f} of ${limit:g} left"
        if limit is not None
        else ""
    )
    return f"{said}{left}."
