"""`/cost`: what the chat has used."""

from __future__ import annotations

from traindx.chat.session import ChatSession


async def carry(session: ChatSession, _rest: str) -> str:
    """Tokens and dollars of the whole chat, and what is left."""
    brain = session.session.claude
    said = f"{session.tokens:,} tokens, ${session.cost_usd:.4f} in this chat"
    if brain is None:
        return (
            f"{said}: the local investigator costs nothing."
            if not session.tokens
            else f"{said}, from before it was resumed."
        )
    led = [name for name in session.diagnosis.request.specialists if name in brain.investigations]
    budget = brain.investigations[led[0]].conversation.budget if led else None
    if budget is not None and not budget.priced:
        return f"{said}; the price of `{budget.model}` is not known."
    limit = session.budget
    left = (
        f"; ${max(0.0, limit - (session.cost_usd - session.cost_of_earlier)):.4f} of ${limit:g} left"
        if limit is not None
        else ""
    )
    return f"{said}{left}."
