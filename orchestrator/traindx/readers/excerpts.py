"""Pieces of a run's text files, for detectors that look at lines: a detector says which, a tool reads them here."""

from __future__ import annotations

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


def read_text(run: Run, path: str, most: int) -> str:
    """The beginning of a text file, with its line ends."""
    with run.scope.open(path) as handle:
        return handle.read(most).decode("utf-8", "replace")
