"""The server inside a program of the user's own, for the Claude Agent SDK."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from claude_agent_sdk import McpSdkServerConfig


def claude_server(*roots: str | Path, all_tools: bool = True) -> McpSdkServerConfig:
    """Our tools in this process, for `ClaudeAgentOptions(mcp_servers={"traindx": claude_server("runs")})`.

    `roots` are the folders that may be read; without any, the current one. With `all_tools` each analysis is a tool of
    its own, from the same declarations as on the command line.
    """
    from traindx.mcp.server import NAME, TraindxServer

    folders = [Path(root) for root in roots] or [Path.cwd()]
    return {"type": "sdk", "name": NAME, "instance": TraindxServer(folders, all_tools=all_tools).mcp}
