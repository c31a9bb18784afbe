"""VS Code: `mcp.json` of the user's profile, whose key is `servers`."""

from __future__ import annotations

from pathlib import Path

from traindx.hosts.json_file import JsonHost
from traindx.hosts.machine import Machine

_FOLDERS = {"darwin": "Library/Application Support/Code/User", "win32": "AppData/Roaming/Code/User"}


def _settings(machine: Machine) -> Path:
    usual = _FOLDERS.get(machine.platform)
    folder = machine.home / usual if usual else machine.folder("XDG_CONFIG_HOME", ".config") / "Code" / "User"
    return folder / "mcp.json"


HOST = JsonHost("VS Code", _settings, "servers", commands=("code",), also={"type": "stdio"})
