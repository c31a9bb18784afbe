"""Every point of a thinned series between two of its points: the lines between are read once more."""

from __future__ import annotations

import io
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from traindx.readers.logs.commas import has_decimal_commas, with_points
from traindx.readers.logs.ranks import labels_ranks
from traindx.readers.logs.textlog import LogReader
from traindx.readers.model import Series
from traindx.readers.tables.csvtable import read_csv

if TYPE_CHECKING:
    from collections.abc import Callable

    from traindx.readers.run import Run

MOST_LINES = 200_000
_HEAD = 6_000
"""lines by which it is told whether a launcher labelled them"""


def closer(run: Run) -> Callable[[Series, int, int], Series | None]:
    """A way to ask a run for all points of a series between two of them."""
    return partial(_between, run)


def _between(run: Run, series: Series, first: int, last: int) -> Series | None:
    begin, end = int(series.lines[first]), int(series.lines[last])
    role = next((file.role for file in run.files if file.path == series.source), "")
    if series.place != "line" or series.parts or not 0 < end - begin <= MOST_LINES:
        return None
    lines = run.lines(series.source, begin, end)
    if role == "log":
        return _in_log(run, series, begin, lines)
    return (
        _in_table(run, series, begin, lines) if role == "metrics" and series.source.endswith((".csv", ".tsv")) else None
    )


def _in_log(run: Run, series: Series, begin: int, lines: list[str]) -> Series | None:
    head = "\n".join(run.lines(series.source, 1, _HEAD)).encode()
    reader = LogReader(labelled=labels_ranks(head))
    text = "\n".join(lines)
    reader.block(begin, with_points(text.encode()).decode() if has_decimal_commas(head) else text)
    # The first rank that is met gets no label: the one that is asked for is known by the line of its first point.
    wanted = series.original.rpartition(":")[2]
    found = [row for row in reader.columns.series(series.source) if row.original.rpartition(":")[2] == wanted]
    return next((row for row in found if begin in row.lines), None)


def _in_table(run: Run, series: Series, begin: int, lines: list[str]) -> Series | None:
    header = run.lines(series.source, 1, 1)
    text = "\n".join([*header, *lines]) + "\n"
    found = read_csv(io.BytesIO(text.encode()), series.source, lambda _: None)
    same = next((row for row in found if row.original == series.original), None)
    return None if same is None else replace(same, lines=same.lines + (begin - 2))
