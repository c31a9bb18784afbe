"""Logs in a form that a project declares: lines whose numbers have no names of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import BinaryIO

from traindx.definitions.rules import LogFormat
from traindx.readers.model import Series
from traindx.readers.tables.record import Records

_HEAD_LINES = 2_000
_FEWEST = 2
_LONGEST = 16 << 10


def read_formatted(handle: BinaryIO, path: str, formats: Sequence[LogFormat]) -> tuple[list[Series], list[str]]:
    """The series of a log that is written in one of the formats, and a remark that says so; nothing of any other."""
    for declared in formats:
        pattern = re.compile(declared.line)
        if _fits(handle, pattern):
            records = Records()
            for number, line in enumerate(iter(lambda: handle.readline(_LONGEST), b""), 1):
                found = pattern.search(line.decode("utf-8", "replace"))
                if found is not None:
                    records.row((name, text, number) for name, text in found.groupdict().items() if text is not None)
            series = records.columns.series(path)
            handle.seek(0)
            return series, [f"`{path}` was read by the project's format `{declared.name}`"]
    return [], []


def _fits(handle: BinaryIO, pattern: re.Pattern[str]) -> bool:
    """Whether the first lines hold a few of the form; the position afterwards is the beginning."""
    handle.seek(0)
    seen = 0
    for _ in range(_HEAD_LINES):
        line = handle.readline(_LONGEST)
        seen += pattern.search(line.decode("utf-8", "replace")) is not None
        if not line or seen >= _FEWEST:
            break
    handle.seek(0)
    return seen >= _FEWEST
