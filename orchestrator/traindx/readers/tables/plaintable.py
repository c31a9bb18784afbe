"""Files of nothing but numbers, in columns: what `np.savetxt`, gnuplot users and `print(step, loss)` leave."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import PurePosixPath
from typing import BinaryIO

from traindx.readers.coverage import Allowance
from traindx.readers.logs.lines import RawBlocks
from traindx.readers.model import Series
from traindx.readers.series.columns import Columns
from traindx.readers.tables.record import Records
from traindx.vocabulary.metrics import normalise

_HEAD = 8 << 10
_FEWEST = 5
_MOST_COLUMNS = 50
_NUMBER = re.compile(rb"[-+]?(?:\d[\d.]*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|inf|NaN|Inf)")
_NAME = re.compile(r"[A-Za-z][\w./%()-]{0,40}$")


def plain_names(head: bytes, path: str) -> list[str] | None:
    """The names of the columns of a file of numbers; None when it is none, or nothing says what it holds."""
    lines = [line for line in head[:_HEAD].split(b"\n") if line.strip()]
    lines = lines[:-1] if len(head) >= _HEAD else lines
    heading = [line for line in lines[:3] if not _is_numbers(line)]
    rows = [line.split() for line in lines[len(heading) :]]
    if len(heading) > 1 or len(rows) < _FEWEST or not all(map(_is_numbers, lines[len(heading) :])):
        return None
    width = len(rows[0])
    if width > _MOST_COLUMNS or any(len(row) != width for row in rows):
        return None
    if heading:
        names = heading[0].decode(errors="replace").lstrip("#% \t").split()
        return names if len(names) == width and all(_NAME.match(name) for name in names) else None
    return _guessed(rows, width, path)


def _is_numbers(line: bytes) -> bool:
    """Whether a line holds numbers and nothing else; word by word, so that no text makes the search slow."""
    return all(map(_NUMBER.fullmatch, line.split()))


def _guessed(rows: list[list[bytes]], width: int, path: str) -> list[str] | None:
    """Without names: a counter and a value, where the file's own name speaks of a loss or of progress."""
    stem = PurePosixPath(path).name.split(".")[0].lower()
    told = normalise(stem).kind in {"loss", "accuracy", "phase"} or any(
        word in stem
        for word in (
            "loss",
            "progress",
            "metric",
            "train",
            "log",
            "curve",
            "history",
            "acc",
            "residual",
            "mse",
            "error",
        )
    )
    if not told or width > 2:
        return None
    measure = "accuracy" if "acc" in stem else "loss"
    if width == 1:
        return [measure]
    counter = [float(row[0]) for row in rows]
    if any(not value.is_integer() for value in counter) or any(later <= sooner for sooner, later in pairwise(counter)):
        return None
    return ["step", measure]


def read_plain(handle: BinaryIO, path: str, allowance: Allowance | None = None) -> list[Series] | None:
    """The series of a file of numbers; None when it is none. The handle is left at its start then."""
    head = handle.read(_HEAD)
    handle.seek(0)
    names = plain_names(head, path)
    if names is None:
        return None
    allowance = allowance or Allowance()
    records = Records(Columns(allowance.points))
    for first, data in RawBlocks(handle, allowance=allowance):
        for number, line in enumerate(data.split(b"\n"), first):
            cells = line.split()
            if len(cells) == len(names) and _is_numbers(line):
                records.row((name, cell.decode(), number) for name, cell in zip(names, cells, strict=True))
        records.columns.bound()
    return records.columns.series(path)
