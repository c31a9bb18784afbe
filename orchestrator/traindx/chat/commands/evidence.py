"""`/evidence [N]`: the citations of a cause, opened."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.chat.answers.cause import without
from traindx.chat.answers.evidence import opened
from traindx.chat.talk import Talk
from traindx.errors import UsageError


async def carry(talk: Talk, rest: str) -> str:
    """Every piece with the lines around it."""
    named = rest.strip().lstrip("#") or "1"
    if not named.isdecimal():
        raise UsageError(f"`/evidence {rest}`: give the number of a cause, e.g. `/evidence 1`")
    cause = talk.cause(int(named))
    return without(talk, int(named)) if cause is None else await opened(talk, cause)


def known(talk: Talk, _words: Sequence[str]) -> list[str]:
    """The numbers of the causes."""
    return [str(number) for number in range(1, len(talk.diagnosis.root_causes) + 1)]
