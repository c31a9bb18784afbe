"""The machine that hosts are looked for on, and how the server is started there."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from traindx.hosts.manifests import NAME


@dataclass(frozen=True)
class Machine:
    """A home folder and an environment; in tests not the user's own."""

    home: Path = field(default_factory=Path.home)
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    platform: str = sys.platform

    def command(self, name: str) -> str:
        """Where a command is, or nothing."""
        return shutil.which(name, path=self.environment.get("PATH", "")) or ""

    def folder(self, variable: str, usual: str) -> Path:
        """A folder that a variable names, else the usual one in the home folder."""
        named = self.environment.get(variable, "")
        return Path(named) if named else self.home / usual

    @property
    def share(self) -> Path:
        """Where our own files for hosts are kept."""
        return self.folder("XDG_DATA_HOME", ".local/share") / NAME

    @property
    def server(self) -> dict[str, object]:
        """How hosts start the server: this interpreter, so that they get the version that is installed here."""
        return {"command": sys.executable, "args": ["-m", NAME, "mcp"]}
