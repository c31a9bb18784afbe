"""Codex: a table in `~/.codex/config.toml`."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from traindx.errors import UnreadableInput
from traindx.hosts.machine import Machine
from traindx.hosts.manifests import NAME
from traindx.hosts.steps import Edit, Step, backup_of, undone

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TITLE = "Codex"
SKILLS = True
_TABLE = f"mcp_servers.{NAME}"
# The table with what belongs to it, up to the next table or the end.
_HELD = re.compile(rf"^\[{re.escape(_TABLE)}(?:\.[^\]\n]+)?\][^\n]*\n(?:(?!\[)[^\n]*(?:\n|\Z))*", re.MULTILINE)


def found(machine: Machine) -> str:
    """Where it shows that it is there."""
    folder = _path(machine).parent
    return str(folder) if folder.is_dir() else machine.command("codex")


def entered(machine: Machine) -> list[Step]:
    """Our server in its settings; the rest of the file stays to the letter."""
    path = _path(machine)
    text, settings = _read(path)
    if settings.get("mcp_servers", {}).get(NAME) == machine.server:
        return []
    rest = _HELD.sub("", text).rstrip("\n")
    # A JSON string is a TOML string, and so is a list of them.
    rows = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in machine.server.items()]
    table = "\n".join([f"[{_TABLE}]", *rows])
    return [Edit(path, (f"{rest}\n\n{table}\n" if rest else f"{table}\n").encode())]


def removed(machine: Machine) -> list[Step]:
    """Out of them again."""
    path = _path(machine)
    text, settings = _read(path)
    if NAME not in settings.get("mcp_servers", {}):
        return []
    left = _HELD.sub("", text).rstrip("\n")
    before = backup_of(path)
    same = before.is_file() and before.read_text(encoding="utf-8").rstrip("\n") == left
    return undone(path, f"{left}\n".encode() if left or before.is_file() else None, same=same)


def _read(path: Path) -> tuple[str, dict[str, Any]]:
    if not path.is_file():
        return "", {}
    try:
        text = path.read_text(encoding="utf-8")
        return text, tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise UnreadableInput(path, f"it is no TOML, so it is left alone: {error}") from None


def _path(machine: Machine) -> Path:
    return machine.folder("CODEX_HOME", ".codex") / "config.toml"
