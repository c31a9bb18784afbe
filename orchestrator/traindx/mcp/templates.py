"""Prompts: one for each specialist, for hosts that have no subagents."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from traindx.agents import Specialist, load_specialists
from traindx.errors import TraindxError, UnknownName
from traindx.mcp.analyses import names

ARGUMENTS = {
    "run": "run folder or log, relative to the workspace",
    "message": "what you see, in your own words",
}


class NoSuchPrompt(TraindxError):
    """There is no such specialist."""


@cache
def specialists() -> dict[str, Specialist]:
    """Our specialists by name."""
    return load_specialists(names())


def filled(name: str, given: Mapping[str, str]) -> str:
    """The specialist's own text, then the request."""
    known = specialists()
    if name not in known:
        raise NoSuchPrompt(str(UnknownName("prompt", name[:100], known)))
    run, message = given.get("run", "").strip() or ".", given.get("message", "").strip()
    said = f" The user says: {message}" if message else ""
    return f"{known[name].prompt.strip()}\n\n---\n\nInvestigate the training run `{run}`, read-only.{said}\n"
