"""Loading specialists from markdown."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from traindx.agents.definition import AgentDefinition
from traindx.definitions import frontmatter
from traindx.definitions.content import AGENTS
from traindx.definitions.frontmatter import FrontMatter
from traindx.errors import DefinitionError, did_you_mean

# In Claude Code the toolbelt arrives through the plugin's MCP server, which prefixes every name; the server's own name
# stands for all of its tools, those of a later release and of the project included.
TOOLBELT = "mcp__plugin_traindx_traindx"
PLUGIN_PREFIX = f"{TOOLBELT}__"
READ_ONLY = ("Read", "Grep", "Glob")
"""a host's own tools that a specialist may have there; no shell, and nothing that writes"""
HEADINGS = "Report headings"
ELSEWHERE = "In other hosts"
"""the section of what our own prompts say already; it is for hosts that have only the file"""


@dataclass(frozen=True)
class Specialist:
    """A specialist ready to be sent: definition, tools by their own names, report headings, system prompt."""

    name: str
    definition: AgentDefinition
    tools: tuple[str, ...]
    headings: tuple[str, ...]
    prompt: str
    source: Path

    @property
    def summary(self) -> str:
        """The first sentence of its description."""
        return re.split(r"(?<=[.!?])\s", self.definition.description.strip(), maxsplit=1)[0]


def load_specialists(known_tools: Collection[str], folders: Sequence[Path] = ()) -> dict[str, Specialist]:
    """Our specialists and those of `folders`, by name; raises `DefinitionError` at the first wrong file."""
    found: dict[str, Specialist] = {}
    for folder in (AGENTS, *folders):
        for path in sorted(folder.glob("*.md")):
            specialist = load_specialist(path, known_tools)
            if specialist.name in found:
                raise DefinitionError(
                    path, 2, f"`{specialist.name}` is already defined in `{found[specialist.name].source}`"
                )
            found[specialist.name] = specialist
    return found


def load_specialist(path: Path, known_tools: Collection[str]) -> Specialist:
    """One specialist from its file."""
    parsed = frontmatter.parse(path)
    definition = parsed.into(AgentDefinition)
    if definition.name != path.stem:
        raise parsed.error("name", f"`name: {definition.name}` and the file name `{path.name}` differ")
    allowed = _named(definition.tools, "tools", parsed, known_tools)
    without = set(_named(definition.disallowed_tools, "disallowedTools", parsed, known_tools))
    tools = tuple(name for name in allowed if name not in without)
    return Specialist(definition.name, definition, tools, _headings(parsed), _own(parsed.body), path)


def _named(names: Sequence[str], key: str, parsed: FrontMatter, known: Collection[str]) -> list[str]:
    """Tools by their own names, each once; the toolbelt's name stands for all of them."""
    found: dict[str, None] = {}
    for name in names:
        own = name.removeprefix(PLUGIN_PREFIX)
        if name != TOOLBELT and own not in known:
            hint = did_you_mean(own, known) or f" Known: {', '.join(sorted(known))}."
            raise parsed.error(key, f"unknown tool `{name}`.{hint}")
        found.update(dict.fromkeys(sorted(known) if name == TOOLBELT else [own]))
    return list(found)


def _own(body: str) -> str:
    """The text without what only other hosts need."""
    return re.sub(rf"^## {ELSEWHERE}\s*$.*?(?=^## |\Z)", "", body, flags=re.MULTILINE | re.DOTALL)


def _headings(parsed: FrontMatter) -> tuple[str, ...]:
    section = re.search(rf"^## {HEADINGS}\s*$(.*?)(?=^## |\Z)", parsed.body, re.MULTILINE | re.DOTALL)
    found = re.findall(r"^\s*\d+\.\s+\*\*(.+?)\*\*", section.group(1), re.MULTILINE) if section else []
    if not found:
        raise DefinitionError(
            parsed.path,
            parsed.body_line,
            f"needs a section `## {HEADINGS}` with a numbered list of **bold** headings",
        )
    return tuple(found)
