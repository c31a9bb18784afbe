"""`/save FILE`: the chat as a Markdown document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from traindx.chat.session import ChatSession
from traindx.definitions.visible import visible
from traindx.errors import UsageError
from traindx.pipeline.outputs import check_target, inside, write_file
from traindx.redaction import Redactor
from traindx.report import render


async def carry(session: ChatSession, rest: str) -> str:
    """Write it, never into the run, and over another file only when told so."""
    named = rest.strip()
    force = named.endswith(("!", " !"))
    named = named.rstrip("! ").strip("'\"")
    if not named:
        raise UsageError("`/save FILE`: which file? For example `/save ~/chat.md`")
    out = Path(named).expanduser()
    real = out.resolve()
    if inside(real, session.paths):
        raise UsageError(
            f"cannot write `{named}`: it is inside the run folder, which is read-only; try `/save ~/{out.name}`"
        )
    check_target(out)
    if real.is_file() and not force:
        raise UsageError(f"`{named}` exists; `/save! {named}` overwrites it")
    write_file(out, Redactor().clean(as_markdown(session)))
    return f"Saved to `{out}`: the diagnosis and {len(session.turns)} questions."


def known(_talk: ChatSession, words: Sequence[str]) -> list[str]:
    """Files that begin like that."""
    typed = words[-1] if words else ""
    folder = Path(typed).expanduser() if typed.endswith("/") else Path(typed).expanduser().parent
    shown = typed[: typed.rfind("/") + 1]
    try:
        return sorted(f"{shown}{row.name}{'/' if row.is_dir() else ''}" for row in folder.iterdir())[:200]
    except OSError:
        return []


def as_markdown(session: ChatSession) -> str:
    """The diagnosis in full, then every question with its answer."""
    title = f"traindx chat {' '.join(session.paths)}" + (f': "{session.message}"' if session.message else "")
    parts = [render(session.diagnosis, "markdown", session.page, title).strip()]
    if session.turns:
        parts.append("## The conversation")
    for turn in session.turns:
        asked = visible(" ".join(turn.asked.split()))
        parts += [f"### {asked}", visible(turn.answered).strip(), f"*({turn.by})*"]
    return "\n\n".join(parts) + "\n"
