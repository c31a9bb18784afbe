"""The text of a run's programs and launch scripts, line by line, for comparing them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from traindx.errors import UnreadableInput
from traindx.readers.model import RunFile

if TYPE_CHECKING:
    from traindx.readers.run import Run

LARGEST = 400_000
MOST_LINES = 6_000
MOST_FILES = 400
_SUFFIXES = (".py", ".sh", ".sbatch", ".slurm")


@dataclass(frozen=True)
class CodeText:
    """A code file; `lines` is None where it cannot be read, or is too long to be compared."""

    size: int
    lines: tuple[str, ...] | None = field(repr=False)


def read_code_texts(run: Run) -> dict[str, CodeText]:
    """The code files of a run by path, as many as can be compared."""
    fitting = [file for file in run.files if file.path.endswith(_SUFFIXES) and file.size <= LARGEST]
    return {file.path: CodeText(file.size, _lines(run, file)) for file in fitting[:MOST_FILES]}


def _lines(run: Run, file: RunFile) -> tuple[str, ...] | None:
    try:
        with run.scope.open(file.path) as handle:
            lines = handle.read(LARGEST).decode("utf-8", "replace").splitlines()
    except (OSError, UnreadableInput):
        return None
    # Comparing takes the product of both lengths at worst.
    return tuple(lines) if len(lines) <= MOST_LINES else None
