"""VS Code: `mcp.json` of the user's profile, whose key is `servers`."""

from __future__ import annotations

from pathlib import Path

from traindx.hosts import json_file
from traindx.hosts.machine import Machine
from traindx.hosts.steps import Step

TITLE = "VS Code"
SKILLS = True
_KEY = "servers"
_FOLDERS = {"darwin": "Library/Application Support/Code/User", "win32": "AppData/Roaming/Code/User"}


def found(machine: Machine) -> str:
    """Where it shows that it is there."""
    folder = _path(machine).parent
    return str(folder) if folder.is_dir() else machine.command("code")


def entered(machine: Machine) -> list[Step]:
    """Our server in its settings."""
    return json_file.entered(_path(machine), _KEY, {"type": "stdio", **machine.server})


def removed(machine: Machine) -> list[Step]:
    """Out of them again."""
    return json_file.removed(_path(machine), _KEY)


def _path(machine: Machine) -> Path:
    usual = _FOLDERS.get(machine.platform)
    folder = machine.home / usual if usual else machine.folder("XDG_CONFIG_HOME", ".config") / "Code" / "User"
    return folder / "mcp.json"
