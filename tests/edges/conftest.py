"""What the tests of whole answers share: the command in a shell, its answer as JSON, and logs of small trainings."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.shells import Shell, shell_with

Answer = Callable[..., dict[str, Any]]
REPORTED = 0.5
"""the confidence from which on a cause is one"""


def falling(steps: int, start: float = 2.3, *, first: int = 0, nan_from: int | None = None) -> str:
    """The lines of a training whose loss falls, and is NaN from some step on."""
    rows = []
    for step in range(steps):
        loss = start / (1 + 0.05 * step) + 0.02 * ((step * 7) % 5)
        shown = "nan" if nan_from is not None and step >= nan_from else f"{loss:.4f}"
        rows.append(f"step {first + step} loss {shown}\n")
    return "".join(rows)


def causes(answer: dict[str, Any]) -> list[str]:
    """The causes that an answer reports, most likely first."""
    return [row["id"] for row in answer["root_causes"] if row["confidence"] >= REPORTED]


def plain(text: str) -> str:
    """A report without its line breaks."""
    return " ".join(text.split())


@pytest.fixture
def spool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the command puts its temporary files."""
    return tmp_path_factory.mktemp("spool")


@pytest.fixture
def shell(spool: Path) -> Shell:
    """Run a line of bash in which `traindx` is the command."""
    return shell_with(spool)


@pytest.fixture
def answer(shell: Shell) -> Answer:
    """The diagnosis of a path as the command prints it for programs."""

    def of(path: Path, message: str = "", *more: str) -> dict[str, Any]:
        options = " ".join(more)
        done = shell(f'traindx diagnose "$RUN" -m "$SAID" --json -q {options}', RUN=path, SAID=message)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return of


@pytest.fixture
def gathered(shell: Shell) -> Answer:
    """What the command finds in a folder, as it prints it for programs."""

    def of(path: Path) -> dict[str, Any]:
        done = shell('traindx gather "$RUN" --json -q', RUN=path)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return of
