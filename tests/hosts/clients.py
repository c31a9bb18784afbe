"""Real clients of agent hosts: from `make clients`, or wherever the machine has them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from traindx.definitions.content import ROOT

INSTALLED = ROOT / ".venv" / "clients" / "node_modules" / ".bin"


def client(name: str) -> str:
    """The command of a client; the test is skipped where there is none."""
    found = shutil.which(name, path=f"{INSTALLED}{os.pathsep}{os.environ.get('PATH', '')}")
    if found is None:
        pytest.skip(f"`{name}` is not installed: `make clients` installs it with npm")
    return found


def environment(home: Path, **more: str) -> dict[str, str]:
    """A home of its own, nothing that leaves the machine, and no key but a dummy one."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return {
        **kept,
        "PATH": f"{INSTALLED}{os.pathsep}{kept.get('PATH', '')}",
        "HOME": str(home),
        "CI": "true",
        "NO_COLOR": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        **more,
    }


def run(
    *words: str, home: Path, folder: Path, timeout: float = 120, more: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """A client's command, nobody at the keyboard."""
    return subprocess.run(
        words,
        cwd=folder,
        env=environment(home, **(more or {})),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
