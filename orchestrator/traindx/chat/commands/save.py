"""`/save FILE`: the chat as a Markdown document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from traindx.chat.memory import inside, replace_file
from traindx.chat.talk import Talk
from traindx.chat.transcript import as_markdown
from traindx.errors import UsageError
from traindx.redaction import Redactor


async def carry(talk: Talk, rest: str) -> str:
    """Write it, never into the run, and over another file only when told so."""
    named = rest.strip()
    force = named.endswith(("!", " !"))
    named = named.rstrip("! ").strip("'\"")
    if not named:
        raise UsageError("`/save FILE`: which file? For example `/save ~/chat.md`")
    out = Path(named).expanduser()
    real = out.resolve()
    if inside(real, talk.paths):
        raise UsageError(
            f"cannot write `{named}`: it lies inside the run, which is only read; try `/save ~/{out.name}`"
        )
    if real.is_dir():
        raise UsageError(f"cannot write `{named}`: it is a folder; give the name of a file")
    if real.exists() and not force:
        raise UsageError(f"`{named}` exists; `/save! {named}` overwrites it")
    if not real.parent.is_dir():
        raise UsageError(f"cannot write `{named}`: there is no folder `{out.parent}`")
    try:
        replace_file(real, Redactor().clean(as_markdown(talk)), mode=0o644)
    except OSError as error:
        raise UsageError(f"cannot write `{named}`: {error.strerror or error}") from None
    return f"Saved to `{out}`: the diagnosis and {len(talk.turns)} questions."


def known(_talk: Talk, words: Sequence[str]) -> list[str]:
    """Files that begin like that."""
    typed = words[-1] if words else ""
    folder = Path(typed).expanduser() if typed.endswith("/") else Path(typed).expanduser().parent
    shown = typed[: typed.rfind("/") + 1]
    try:
        return sorted(f"{shown}{row.name}{'/' if row.is_dir() else ''}" for row in folder.iterdir())[:200]
    except OSError:
        return []
