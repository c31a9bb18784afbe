"""Our entry in a host's JSON settings: put in, found, taken out, everything else as it was."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from traindx.errors import UnreadableInput
from traindx.hosts.machine import Machine
from traindx.hosts.manifests import NAME
from traindx.hosts.steps import Edit, Step, backup_of, undone


@dataclass(frozen=True)
class JsonHost:
    """A host that keeps its servers in one JSON file, under `key`; `also` stands in our entry beside the command."""

    TITLE: str
    settings: Callable[[Machine], Path]
    key: str = "mcpServers"
    commands: tuple[str, ...] = ()
    also: Mapping[str, Any] = field(default_factory=dict)
    SKILLS: bool = True

    def found(self, machine: Machine) -> str:
        """The folder of its settings, or its command."""
        folder = self.settings(machine).parent
        return str(folder) if folder.is_dir() else next(filter(None, map(machine.command, self.commands)), "")

    def entered(self, machine: Machine) -> list[Step]:
        """Our server in its settings."""
        return entered(self.settings(machine), self.key, {**self.also, **machine.server})

    def removed(self, machine: Machine) -> list[Step]:
        """Out of them again."""
        return removed(self.settings(machine), self.key)


def entered(path: Path, key: str, entry: Mapping[str, Any]) -> list[Step]:
    """The steps that make `key` hold our entry; none where it does."""
    settings, indent = _read(path, key, entry)
    servers = settings.get(key)
    if isinstance(servers, dict) and servers.get(NAME) == entry:
        return []
    held = servers if isinstance(servers, dict) else {}
    return [Edit(path, _text({**settings, key: {**held, NAME: dict(entry)}}, indent))]


def removed(path: Path, key: str) -> list[Step]:
    """The steps that take our entry out again; none where there is none."""
    if not path.is_file():
        return []
    settings, indent = _read(path, key, {})
    servers = settings.get(key)
    if not isinstance(servers, dict) or NAME not in servers:
        return []
    left = {name: row for name, row in servers.items() if name != NAME}
    after = {**settings, key: left} if left else {name: row for name, row in settings.items() if name != key}
    before = backup_of(path)
    same = before.is_file() and _parsed(before.read_bytes()) in (after, {**after, key: {}})
    # A file that holds nothing and that was not there before us was ours.
    return undone(path, _text(after, indent) if after or before.is_file() else None, same=same)


def _read(path: Path, key: str, entry: Mapping[str, Any]) -> tuple[dict[str, Any], int | str]:
    if not path.is_file():
        return {}, 2
    content = path.read_bytes()
    settings = _parsed(content) if content.strip() else {}
    if not isinstance(settings, dict):
        by_hand = json.dumps({key: {NAME: dict(entry)}})
        raise UnreadableInput(path, f"it is not plain JSON (comments?), so it is left alone; add by hand: {by_hand}")
    match = re.search(rb"\n([ \t]+)\S", content)
    return settings, match[1].decode() if match else 2


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None


def _text(settings: Mapping[str, Any], indent: int | str) -> bytes:
    return (json.dumps(settings, indent=indent, ensure_ascii=False) + "\n").encode()
