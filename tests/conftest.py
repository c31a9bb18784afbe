"""What every test may use: the examples, a run of the command, and the hashes of a folder."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from traindx.definitions.content import EXAMPLES

Command = Callable[..., subprocess.CompletedProcess[str]]

# No test fails because the machine is busy: examples have no deadline.
settings.register_profile("traindx", deadline=None)
settings.load_profile("traindx")


@pytest.fixture(autouse=True)
def no_key_and_no_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test can spend money, or leave a transcript or a chat among somebody's own."""
    for name in [name for name in os.environ if name.startswith("ANTHROPIC")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(scope="session")
def broken_run() -> Path:
    return EXAMPLES / "schedule-change"


@pytest.fixture(scope="session")
def healthy_run() -> Path:
    return EXAMPLES / "schedule-change-healthy"


@pytest.fixture(scope="session")
def poor_run() -> Path:
    return EXAMPLES / "poor-folder"


@pytest.fixture(scope="session")
def traindx() -> Command:
    """The real command in a process of its own, with a clean environment and no key."""

    def run(*arguments: object, cwd: Path | None = None, timeout: float = 60.0) -> subprocess.CompletedProcess[str]:
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("ANTHROPIC", "PYTHON"))}
        return subprocess.run(
            [sys.executable, "-m", "traindx", *map(str, arguments)],
            cwd=cwd or Path("/"),
            env=clean,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def hashes() -> Callable[[Path], dict[str, str]]:
    """Everything below a folder: contents, modes, times and link targets."""

    def of(folder: Path) -> dict[str, str]:
        seen = {}
        for path in sorted(folder.rglob("*")):
            status = path.lstat()
            content = path.read_bytes() if path.is_file() and not path.is_symlink() else str(status.st_size).encode()
            mark = f"{status.st_mode}:{status.st_mtime_ns}:{hashlib.sha256(content).hexdigest()}"
            seen[str(path.relative_to(folder))] = mark
        return seen

    return of
