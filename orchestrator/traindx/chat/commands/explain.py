"""`/explain [ID]`: an entry of the catalog."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.chat.flow import unwrapped
from traindx.chat.session import ChatSession
from traindx.errors import UnknownName


async def carry(session: ChatSession, rest: str) -> str:
    """The page of one failure mode; without an id that of the first cause, or the list."""
    found = [cause.id for cause in session.diagnosis.root_causes if cause.id in session.catalog]
    name = rest.strip().strip("`") or next(iter(found), "")
    if not name:
        listed = "\n".join(f"- `{mode.id}`: {mode.title}" for mode in session.catalog.values())
        return f"{listed}\n\n`/explain ID` shows one of them in full."
    if name not in session.catalog:
        raise UnknownName("failure mode", name, session.catalog)
    mode = session.catalog[name]
    others = [other for other in found if other != name]
    more = f"\n\nAlso named here: {', '.join(f'`{other}`' for other in others)}." if others and not rest.strip() else ""
    return f"`{mode.id}` [{mode.severity}, {mode.specialist}]: {mode.title}\n\n{unwrapped(mode.body)}{more}"


def known(session: ChatSession, _words: Sequence[str]) -> list[str]:
    """Every id."""
    return list(session.catalog)
