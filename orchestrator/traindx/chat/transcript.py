"""A chat as a Markdown document."""

from __future__ import annotations

from traindx.chat.talk import Talk
from traindx.report import render
from traindx.report.plain import visible


def as_markdown(talk: Talk) -> str:
    """The diagnosis in full, then every question with its answer."""
    title = f"traindx chat {' '.join(talk.paths)}" + (f': "{talk.message}"' if talk.message else "")
    parts = [render(talk.diagnosis, "markdown", talk.page, title).strip()]
    if talk.turns:
        parts.append("## The conversation")
    for turn in talk.turns:
        asked = visible(" ".join(turn.asked.split()))
        parts += [f"### {asked}", visible(turn.answered).strip(), f"*({turn.by})*"]
    return "\n\n".join(parts) + "\n"
