"""The command in a real shell, and devices of our own to write to."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Shell = Callable[..., subprocess.CompletedProcess[str]]


def shell_with(spool: Path) -> Shell:
    """Runs a line of bash in which `traindx` is the command; its temporary files go to `spool`."""

    def run(line: str, *, timeout: float = 120.0, **variables: object) -> subprocess.CompletedProcess[str]:
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("ANTHROPIC", "PYTHON"))}
        given = {key: str(value) for key, value in variables.items()}
        return subprocess.run(
            ["bash", "-c", f'traindx() {{ {sys.executable} -m traindx "$@"; }}\n{line}'],
            cwd="/",
            env={**clean, "TMPDIR": str(spool), **given},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )

    return run


def device(path: Path, minor: int) -> Path:
    """A character device like the system's (7 is always full, 3 takes everything), so that no test can spoil those."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
        with path.open("rb"):
            return path
    except OSError:
        pytest.skip("device nodes cannot be made or opened here")
