"""Pieces of a run's text files, for detectors that look at lines: a detector says which, a tool reads them here."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from traindx.readers.model import Excerpt, Series, Stretch

if TYPE_CHECKING:
    from traindx.readers.run import Run

LARGEST_TEXT = 256 << 10
MOST_TEXTS = 40
_TEXTS = frozenset(
    {
        "", ".txt", ".csv", ".tsv", ".json", ".jsonl", ".yaml", ".yml", ".lst", ".list", ".toml", ".ini", ".cfg",
        ".conf", ".sh", ".bash", ".sbatch", ".slurm", ".pbs", ".lsf", ".sub", ".env", ".gin", ".args", ".dockerfile",
        ".bat", ".ps1", ".zsh", ".job", ".cmd", ".in", ".mk",
    }
)  # fmt: skip
_NOTE = re.compile(r"(?:^|/)(?!readme|licen[cs]e|notes|changelog)[^/.]{1,80}(?:\.txt)?$", re.IGNORECASE)
_ORDER = {"config": 0, "code": 0, "other": 1, "data": 2}


def read_excerpt(run: Run, wanted: Stretch) -> Excerpt:
    """The lines of a stretch, as far as the file has them."""
    return Excerpt(*wanted, tuple(run.lines(*wanted)))


def log_heads(run: Run, most: int) -> Iterator[Excerpt]:
    """The first lines of every log, read when asked for."""
    for file in run.files:
        if file.role == "log":
            yield read_excerpt(run, Stretch(file.path, 1, most))


def last_line(run: Run, series: Series) -> str:
    """The line that the last point of a series was read from."""
    line = int(series.lines[-1])
    return "".join(run.lines(series.source, line, line))


def read_tail(run: Run, path: str, most: int = 256 << 10) -> Excerpt:
    """The last lines of a text file, some hundred kilobytes of them; of a log, of the attempt that is judged."""
    with run.texts.open(path) as handle:
        size = handle.seek(0, os.SEEK_END)
        first = run.seek_byte(handle, path, max(0, size - most))
        text = handle.read(most).decode("utf-8", "replace")
    lines = text.split("\n")
    begins = first if size <= most else first + 1  # the first line may be cut
    lines = lines if size <= most else lines[1:]
    judged = run.judged(path)
    if judged.last is not None and judged.last < begins:
        return read_excerpt(run, Stretch(path, max(judged.first, judged.last - len(lines)), judged.last))
    if judged.first > begins:
        begins, lines = judged.first, lines[judged.first - begins :]
    lines = lines[: judged.last - begins + 1] if judged.last is not None else lines
    return Excerpt(path, begins, begins + len(lines) - 1, tuple(line.rstrip("\r") for line in lines))


def small_texts(run: Run) -> Iterator[Excerpt]:
    """The small text files beside logs and programs: configurations, scripts, requirements, lists."""
    wanted = {"config", "code", "data", "other"}
    files = [file for file in run.files if file.role in wanted and file.size <= LARGEST_TEXT]
    texts = [file for file in files if PurePosixPath(file.path).suffix.lower() in _TEXTS]
    for file in sorted(texts, key=lambda file: _ORDER.get(file.role, 1))[:MOST_TEXTS]:
        yield read_excerpt(run, Stretch(file.path, 1, 20_000))


def error_tails(run: Run, most: int = 64 << 10) -> Iterator[Excerpt]:
    """The end of every text log in which an error was found."""
    for path in dict.fromkeys(row.source for row in run.errors if not row.source.endswith(".ipynb")):
        yield read_tail(run, path, most)


def log_tails(run: Run, most: int) -> Iterator[Excerpt]:
    """The end of every log, read when asked for; where there is none, of the notes that may be pasted output."""
    logs = [file for file in run.files if file.role == "log" and file.size]
    notes = [file for file in run.files if file.role == "other" and 0 < file.size <= most and _NOTE.search(file.path)]
    for file in logs or notes:
        yield read_tail(run, file.path, most)


def read_text(run: Run, path: str, most: int) -> str:
    """The beginning of a text file, with its line ends."""
    with run.texts.open(path) as handle:
        return handle.read(most).decode("utf-8", "replace")
