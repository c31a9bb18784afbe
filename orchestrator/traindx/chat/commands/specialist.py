"""`/specialist NAME`: another pair of eyes."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.chat.session import ChatSession
from traindx.chat.summary import in_short
from traindx.errors import UnknownName


async def carry(session: ChatSession, rest: str) -> str:
    """A diagnosis by that specialist, to whom the questions go from then on; without a name, who there is."""
    name = rest.strip().strip("`")
    known_ones = session.registry.specialists
    if not name:
        sent = session.diagnosis.request.specialists
        rows = [
            f"- `{one.name}`{' (was sent)' if one.name in sent else ''}: {one.summary}" for one in known_ones.values()
        ]
        return "\n".join(rows)
    if name not in known_ones:
        raise UnknownName("specialist", name, known_ones)
    before = [cause.id for cause in session.diagnosis.root_causes]
    await session.diagnose(session.message, name)
    same = [cause.id for cause in session.diagnosis.root_causes] == before
    said = f"`{name}` reaches the same conclusion." if same and before else f"`{name}` investigated it."
    return f"{said}\n\n{in_short(session.diagnosis)}"


def known(session: ChatSession, _words: Sequence[str]) -> list[str]:
    """Their names."""
    return list(session.registry.specialists)
