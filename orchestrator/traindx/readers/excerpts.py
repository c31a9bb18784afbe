"""Pieces of a run's text files, for detectors that look at lines: a detector says which, a tool reads them here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from traindx.readers.model import Excerpt, Series, Stretch

if TYPE_CHECKING:
    from traindx.readers.run import Run


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
    """The last lines of a text file, some hundred kilobytes of them."""
    with run.texts.open(path) as handle:
        size = handle.seek(0, os.SEEK_END)
        handle.seek(0)
        first = 1
        left = max(0, size - most)
        while left > 0:
            piece = handle.read(min(left, 1 << 20))
            if not piece:
                break
            first += piece.count(b"\n")
            left -= len(piece)
        text = handle.read(most).decode("utf-8", "replace")
    lines = text.split("\n")
    begins = first if size <= most else first + 1  # the first line may be cut
    lines = lines if size <= most else lines[1:]
    return Excerpt(path, begins, begins + len(lines) - 1, tuple(line.rstrip("\r") for line in lines))


def error_tails(run: Run, most: int = 64 << 10) -> Iterator[Excerpt]:
    """The end of every text log in which an error was found."""
    for path in dict.fromkeys(row.source for row in run.errors if not row.source.endswith(".ipynb")):
        yield read_tail(run, path, most)


def read_text(run: Run, path: str, most: int) -> str:
    """The beginning of a text file, with its line ends."""
    with run.texts.open(path) as handle:
        return handle.read(most).decode("utf-8", "replace")
