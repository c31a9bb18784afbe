"""Our specialists as agents of the Claude Agent SDK, from the same markdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from traindx.agents.load import READ_ONLY, load_specialists
from traindx.definitions import frontmatter
from traindx.errors import UsageError
from traindx.runtime.discovery import tool_names

if TYPE_CHECKING:
    from claude_agent_sdk import AgentDefinition

SERVER = "traindx"
"""the name under which the server is entered in the options of the SDK"""


def as_claude_agents(server: str = SERVER, folders: Sequence[Path] = ()) -> dict[str, AgentDefinition]:
    """The specialists by name, ours and those of `folders`, for `ClaudeAgentOptions(agents=…)`.

    They may read, and use the tools of the MCP server entered as `server`; no shell, nothing that writes.
    """
    try:
        from claude_agent_sdk import AgentDefinition
    except ModuleNotFoundError:
        raise UsageError("`as_claude_agents` needs the Claude Agent SDK: pip install 'traindx[agent-sdk]'") from None
    return {
        one.name: AgentDefinition(
            description=one.definition.description,
            # The whole file's text: what it says for other hosts is meant for these.
            prompt=frontmatter.parse(one.source).body.strip(),
            tools=[*READ_ONLY, f"mcp__{server}"],
            model=one.definition.model,
            maxTurns=one.definition.max_turns,
        )
        for one in load_specialists(tool_names(), folders).values()
    }
