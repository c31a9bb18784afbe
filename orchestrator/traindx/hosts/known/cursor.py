"""Cursor: `~/.cursor/mcp.json`."""

from traindx.hosts.json_file import JsonHost

HOST = JsonHost("Cursor", lambda machine: machine.home / ".cursor" / "mcp.json", commands=("cursor", "cursor-agent"))
