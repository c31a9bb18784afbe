"""Real shells, devices and limits: what a hostile tester would reach for."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Shell = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Run a line of bash in which `traindx` is the command; its temporary files go below `tmp_path`."""
    spool = tmp_path / "spool"
    spool.mkdir()

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


@pytest.fixture
def full_device(tmp_path: Path) -> Path:
    """A device on which there is never any space: a node of our own, so that no test can spoil the system's."""
    return _device(tmp_path / "full", 7)


@pytest.fixture
def null_device(tmp_path: Path) -> Path:
    return _device(tmp_path / "null", 3)


def _device(path: Path, minor: int) -> Path:
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
        with path.open("rb"):
            return path
    except OSError:
        pytest.skip("device nodes cannot be made or opened here")


def spooled(tmp_path: Path) -> list[str]:
    """What a command has left among the temporary files."""
    return [path.name for path in (tmp_path / "spool").iterdir()]
