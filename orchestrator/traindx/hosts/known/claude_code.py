"""Claude Code: a plugin of our own in the user's data folder, installed with the host's own commands.

The plugin brings everything at once: the specialists as subagents, the skill and the server.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from traindx.definitions.content import ROOT
from traindx.definitions.version import __version__
from traindx.hosts.copies import copied
from traindx.hosts.machine import Machine
from traindx.hosts.manifests import NAME, as_json
from traindx.hosts.steps import Command, Edit, RemovedFolder, Step

TITLE = "Claude Code"
SKILLS = False
"""the plugin brings the skill"""
_PLUGIN = f"{NAME}@{NAME}"
_PARTS = (".claude-plugin", "agents", "skills")


def found(machine: Machine) -> str:
    """Where its command is."""
    return machine.command("claude")


def entered(machine: Machine) -> list[Step]:
    """The plugin's folder, and its installation where it is not installed in this version."""
    folder = _folder(machine)
    files = [step for part in _PARTS for step in copied(ROOT / part, folder / part)]
    server = as_json({"mcpServers": {NAME: machine.server}}).encode()
    if not _holds(folder / ".mcp.json", server):
        files.append(Edit(folder / ".mcp.json", server, ours=True))
    installed = _installed(machine)
    if installed == __version__ and _known(machine) == str(folder):
        return [*files, *([_claude(machine, "plugin", "update", _PLUGIN)] if files else [])]
    known = _known(machine) == str(folder)
    steps: list[Step] = [*files]
    if not known:
        steps.append(_claude(machine, "plugin", "marketplace", "add", str(folder)))
    steps.append(_claude(machine, "plugin", "update" if installed else "install", _PLUGIN))
    return steps


def removed(machine: Machine) -> list[Step]:
    """Uninstalled, and its folder gone."""
    steps: list[Step] = []
    if _installed(machine):
        steps.append(_claude(machine, "plugin", "uninstall", _PLUGIN))
    if _known(machine):
        steps.append(_claude(machine, "plugin", "marketplace", "remove", NAME))
    if _folder(machine).is_dir():
        steps.append(RemovedFolder(_folder(machine)))
    return steps


def _claude(machine: Machine, *words: str) -> Command:
    return Command((machine.command("claude") or "claude", *words))


def _folder(machine: Machine) -> Path:
    return machine.share / "claude-code"


def _installed(machine: Machine) -> str:
    """The version that Claude Code has, or nothing."""
    rows = _plugins(machine, "installed_plugins.json").get("plugins", {}).get(_PLUGIN) or []
    return str(rows[0].get("version", "")) if rows else ""


def _known(machine: Machine) -> str:
    """Where it knows our marketplace."""
    row = _plugins(machine, "known_marketplaces.json").get(NAME, {})
    return str(row.get("installLocation", ""))


def _plugins(machine: Machine, name: str) -> dict[str, Any]:
    try:
        held = json.loads((machine.folder("CLAUDE_CONFIG_DIR", ".claude") / "plugins" / name).read_bytes())
    except (OSError, ValueError):
        return {}
    return held if isinstance(held, dict) else {}


def _holds(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content
