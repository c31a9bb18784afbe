"""Gemini CLI: `~/.gemini/settings.json`."""

from __future__ import annotations

from pathlib import Path

from traindx.hosts import json_file
from traindx.hosts.machine import Machine
from traindx.hosts.steps import Step

TITLE = "Gemini CLI"
SKILLS = True
_KEY = "mcpServers"


def found(machine: Machine) -> str:
    """Where it shows that it is there."""
    folder = machine.home / ".gemini"
    return str(folder) if folder.is_dir() else machine.command("gemini")


def entered(machine: Machine) -> list[Step]:
    """Our server in its settings."""
    return json_file.entered(_path(machine), _KEY, machine.server)


def removed(machine: Machine) -> list[Step]:
    """Out of them again."""
    return json_file.removed(_path(machine), _KEY)


def _path(machine: Machine) -> Path:
    return machine.home / ".gemini" / "settings.json"
