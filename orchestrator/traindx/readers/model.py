"""What is read from a run folder, typed: files with roles, series, settings, errors, code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from traindx.contract import Fact

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]
    LineNumbers = npt.NDArray[np.int64]

Role = Literal["log", "metrics", "config", "code", "checkpoint", "trace", "data", "output", "probe", "other"]
"""what a file is for; a `trace` tells what a machine was doing: a profile, a dump of NCCL's flight recorder"""
Axis = Literal["epoch", "step", "row"]
_SHELL = (".sh", ".sbatch", ".slurm", ".bash")
_PROGRAM = (".py", ".ipynb")


def is_shell(path: str) -> bool:
    """Whether a path is that of a script that launches programs."""
    return path.endswith(_SHELL)


def is_program(path: str) -> bool:
    """Whether a path is that of a Python file or a notebook."""
    return path.endswith(_PROGRAM)


@dataclass(frozen=True)
class RunFile:
    """A file of the run; `path` is relative to the run folder, with forward slashes."""

    path: str
    role: Role
    size: int


@dataclass(frozen=True)
class Unread:
    """A file that a reader failed on, and why: not the same as a file in which nothing was found."""

    path: str
    reason: str
    surprise: bool = False
    """whether a reader met something it was not made for, rather than a file that cannot be opened or parsed"""


@dataclass(frozen=True, eq=False)
class Series:
    """A metric over time. `lines[i]` is the line (from 1) that point `i` was read from."""

    name: str
    original: str
    source: str
    axis: Axis
    at: Numbers
    values: Numbers
    lines: LineNumbers
    texts: tuple[str, ...] = field(default=(), repr=False)
    """the value of each point exactly as the file spells it: what a citation quotes; empty for very long series"""
    place: Literal["line", "record"] = "line"
    """what `lines` counts: lines of a text file, records of a binary one"""
    unit: str = ""
    """`%`, `ms`, …: as the file gives it"""
    steps: Numbers | None = field(default=None, repr=False)
    epochs: Numbers | None = field(default=None, repr=False)
    """step and epoch of each point where the file tells them; NaN where it does not"""
    clock: Numbers | Callable[[LineNumbers], Numbers | None] | None = field(default=None, repr=False)
    """the wall-clock time of each point, or how to find out when its line was written"""
    restarts: tuple[int, ...] = ()
    """first points after the axis jumps back, or after the log says that it resumes: another run, or the same again"""
    thinned: int = 1
    """one point in so many was kept"""
    duplicate_of: str = ""
    """the file that holds the same series point by point: a run often logs to two places"""
    parts: tuple[tuple[int, str], ...] = ()
    """first point and file of each part, where the series was put together from the files of several jobs"""

    def source_at(self, index: int) -> str:
        """The file that a point was read from."""
        return next((source for first, source in reversed(self.parts) if first <= index), self.source)

    @property
    def walls(self) -> Numbers | None:
        """Wall-clock time (seconds) of each point; NaN where the file does not tell it, None where it never does."""
        return self.clock(self.lines) if callable(self.clock) else self.clock

    @property
    def phase(self) -> str:
        """`train`, `val`, `test`, or empty for what belongs to no phase (`lr`)."""
        return self.name.split("/", 1)[0] if "/" in self.name else ""

    def __len__(self) -> int:
        return len(self.values)


class Stretch(NamedTuple):
    """Lines `first` to `last` (from 1, both included) of a text file."""

    source: str
    first: int
    last: int


@dataclass(frozen=True)
class Excerpt:
    """The lines of a stretch: as far as the file has them, they are those from `first` to `last`."""

    source: str
    first: int
    last: int
    lines: tuple[str, ...] = field(repr=False)

    def numbered(self) -> Iterator[tuple[int, str]]:
        """Every line with its number."""
        return enumerate(self.lines, self.first)


@dataclass(frozen=True)
class Setting:
    """One configuration value and where it stands."""

    key: str
    value: Fact
    source: str
    line: int
    coded: bool = False
    """whether it stands in a program: a default, which what is configured or printed overrules"""


@dataclass(frozen=True)
class LogError:
    """An error or warning that the run printed; `text` is one line of the file, to the letter (stripped)."""

    source: str
    line: int
    text: str
    kind: Literal["error", "warning"]
    frames: tuple[tuple[str, int], ...] = ()
    """the traceback's frames, outermost first: (file as printed, line)"""
    follows: int = 0
    """the line of the error during whose handling, or from which, it was raised; 0 where there is none"""
    count: int = 1
    """how often the file says the same; `line` is the first time"""
    last_line: int = 0
    """the last time that the file says the same; 0 where it says it once"""
    rank: int | None = None
    """the process that printed it, where the line says which; of a launcher's summary, the one that failed first"""
    more: str = field(default="", compare=False)
    """the further lines of a message that has several"""
    ignored: bool = False
    """whether the interpreter says that it goes on: raised in a destructor, at exit, or while a record was logged"""
    code: str = field(default="", compare=False)
    """the line of code that raised, where the traceback shows it"""
    calls: tuple[str, ...] = field(default=(), compare=False)
    """the function of each frame, as far as the traceback names it"""
