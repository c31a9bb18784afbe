"""`/specialist NAME`: another pair of eyes."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.chat.summary import in_short
from traindx.chat.talk import Talk
from traindx.errors import UnknownName


async def carry(talk: Talk, rest: str) -> str:
    """A diagnosis by that specialist, to whom the questions go from then on; without a name, who there is."""
    name = rest.strip().strip("`")
    known_ones = talk.household.specialists
    if not name:
        sent = talk.diagnosis.request.specialists
        rows = [
            f"- `{one.name}`{' (was sent)' if one.name in sent else ''}: {one.summary}" for one in known_ones.values()
        ]
        return "\n".join(rows)
    if name not in known_ones:
        raise UnknownName("specialist", name, known_ones)
    before = [cause.id for cause in talk.diagnosis.root_causes]
    await talk.diagnose(talk.message, name)
    same = [cause.id for cause in talk.diagnosis.root_causes] == before
    said = f"`{name}` comes to the same." if same and before else f"`{name}` has looked at it."
    return f"{said}\n\n{in_short(talk.diagnosis)}"


def known(talk: Talk, _words: Sequence[str]) -> list[str]:
    """Their names."""
    return list(talk.household.specialists)
