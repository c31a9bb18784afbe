"""Rows of a file of telemetry left out evenly over all steps: it gets smaller and still tells of the whole run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from traindx.vocabulary.telemetry import EVENT

_NEWEST = 0.1
"""share of the file, at its end, that is kept as it is"""
_STEP = re.compile(rb'^\{"step":(\d{1,18}),')
_KEY = re.compile(rb'"([^"]{1,200})":')
_EVENT = f'"{EVENT}":'.encode()
_MOST_PASSES = 40


def thin(path: Path, fresh: Path, most: int) -> None:
    """Write to `fresh` the rows of a file that are worth `most` bytes, or as near to it as its events allow."""
    steps = [step for step, _ in _rows(path)]
    span = max(steps, default=0) - min(steps, default=0) + 1
    width = max(1.0, 2 * span / max(1, len(steps)))
    end = int(path.stat().st_size * (1 - _NEWEST))
    for _ in range(_MOST_PASSES):
        if _copy(path, fresh, width, end) <= most or width > span:
            return
        width *= 2


def _rows(path: Path) -> Iterator[tuple[int, bytes]]:
    with path.open("rb") as lines:
        for line in lines:
            found = _STEP.match(line)
            if found is not None and _EVENT not in line:
                yield int(found[1]), line


def _copy(path: Path, fresh: Path, width: float, end: int) -> int:
    """Of rows that tell of the same, copy one in so many steps; the size of the copy."""
    size = seen = 0
    last: dict[tuple[bytes, ...], int] = {}
    with path.open("rb") as old, fresh.open("wb") as new:
        for line in old:
            seen += len(line)
            found = _STEP.match(line)
            if found is not None and _EVENT not in line and seen <= end:
                told, place = tuple(_KEY.findall(line)), int(int(found[1]) / width)
                if last.get(told) == place:
                    continue
                last[told] = place
            size += new.write(line)
    return size
