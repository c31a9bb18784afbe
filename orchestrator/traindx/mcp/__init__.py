"""The toolbelt for agent hosts: an MCP server over standard input and output, or over HTTP on this machine."""

from traindx.mcp.in_process import claude_server

__all__ = ["claude_server"]
