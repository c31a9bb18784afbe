"""`/evidence [N]`: the citations of a cause, opened."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.chat.answers.cause import without
from traindx.chat.answers.evidence import opened
from traindx.chat.session import ChatSession
from traindx.errors import UsageError


async def carry(session: ChatSession, rest: str) -> str:
    """Every piece with the lines around it."""
    named = rest.strip().lstrip("#") or "1"
    if not named.isdecimal():
        raise UsageError(f"`/evidence {rest}`: give the number of a cause, e.g. `/evidence 1`")
    cause = session.cause(int(named))
    return without(session, int(named)) if cause is None else await opened(session, cause)


def known(session: ChatSession, _words: Sequence[str]) -> list[str]:
    """The numbers of the causes."""
    return [str(number) for number in range(1, len(session.diagnosis.root_causes) + 1)]
