"""A run that is alive and gets nowhere, as files beside its log show: GPU monitors, heartbeats, lists of processes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite, cite_line, where
from traindx.detectors.curves.objective import Objective
from traindx.readers.model import Excerpt
from traindx.readers.quoting import quote_of

SIGNALS = {"alive-without-progress": "the process is alive, and the training gets nowhere"}
BEATS = 5
"""records after the last value that show a process alive"""
HELD = 300.0
"""MiB of a GPU that a driver without any process does not take"""
IDLE = 5.0
"""percent of utilisation"""
SPINS = 97.0
"""percent: a kernel that waits for other ranks keeps its GPU busy"""
_STAMP = re.compile(r"(\d{4})[-/](\d\d)[-/](\d\d)[T ,](\d\d):(\d\d):(\d\d)")
_CTIME = re.compile(
    r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w{0,6},? (\w{3}) {1,2}(\d{1,2}) (\d\d):(\d\d):(\d\d) (?:\w{2,5} )?(\d{4})"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_PERCENT, _MEMORY = re.compile(r"(?<![\d.])(\d{1,3}) ?%"), re.compile(r"(?<![\d.])(\d{1,7}) ?MiB")
_BEAT = re.compile(
    r"heart-?beat|\balive\b|keep-?alive|still (?:running|waiting)|\bhealthy\b|\bliveness\b|state[=: ]+R(?:UNNING)?\b",
    re.IGNORECASE,
)
_PROCESS = re.compile(
    r"\s\d{1,8}\s+C(?:\+G)?\s+\S{0,200}(?:python[\d.]*|pt_main_thread)\s+\d{1,7} ?MiB"
    r"|\s(?:[DSR][a-zA-Z<+]{0,4})\s.{0,80}\b(?:python[\d.]*|torchrun|accelerate|deepspeed)\b.{0,200}"
)


@dataclass(frozen=True)
class Beside:
    """A file beside the log: its first line and its end."""

    head: str
    tail: Excerpt


def seconds_of(text: str) -> float | None:
    """The date and time that a line tells, in seconds."""
    found = _STAMP.search(text)
    if found is not None:
        return _seconds(*map(int, found.groups()))
    found = _CTIME.search(text)
    if found is None or found[1].lower() not in _MONTHS:
        return None
    month = _MONTHS.index(found[1].lower()) + 1
    return _seconds(int(found[6]), month, int(found[2]), int(found[3]), int(found[4]), int(found[5]))


def _seconds(*parts: int) -> float | None:
    try:
        return (datetime(*parts) - datetime(1970, 1, 1)).total_seconds()  # type: ignore[arg-type]
    except ValueError:
        return None


def detect(goal: Objective, last: float, shortest: float, usual: str, files: Sequence[Beside]) -> Signal | None:
    """The file that shows a process alive for longer than any step took; `last` is when the last value was logged."""
    for file in files:
        seen = _records(file, last) or _snapshot(file, last)
        if seen is None:
            continue
        number, text, at, how = seen
        if at - last < shortest:
            continue
        series, end = goal.series, len(goal) - 1
        silence = span_text(at - last)
        claim = f"{silence} after {where(series, end)}, the last that was logged, {file.tail.source} shows {how}"
        places = [
            cite(series, end, "the last progress"),
            cite_line(file.tail.source, number, f"{silence} later: {how}", quote_of(text)),
        ]
        facts: dict[str, Fact] = {"last_at": where(series, end), "silence": silence, "usual_pause": usual}
        return Signal(id="alive-without-progress", claim=claim, citations=places, facts=facts)
    return None


def _records(file: Beside, last: float) -> tuple[int, str, float, str] | None:
    """The last of many records that were written after the last value, and what they show."""
    later = [
        (number, text, at)
        for number, text in file.tail.numbered()
        if (at := seconds_of(text[:200])) is not None and at > last
    ]
    if len(later) < BEATS:
        return None
    number, text, at = later[-1]
    used = [pair for _, line, _ in later if (pair := _gpu(file.head, line)) is not None]
    if len(used) >= BEATS:
        share, memory = (float(np.median(column)) for column in zip(*used, strict=True))
        stuck = share <= IDLE or share >= SPINS
        return (
            (number, text, at, f"the GPU at {share:.0f} % with {memory:.0f} MiB held")
            if stuck and memory >= HELD
            else None
        )
    if sum(_BEAT.search(line) is not None for _, line, _ in later) >= BEATS:
        return number, text, at, "the process alive"
    return None


def _gpu(head: str, line: str) -> tuple[float, float] | None:
    """Utilisation and memory in a record of `nvidia-smi --query-gpu`, with or without units."""
    percent, memory = _PERCENT.search(line), _MEMORY.search(line)
    if percent and memory:
        return float(percent[1]), float(memory[1])
    names = [name.strip().lower() for name in head.split(",")]
    cells = [cell.strip() for cell in line.split(",")]
    share = next(
        (at for at, name in enumerate(names) if name.startswith(("utilization.gpu", "gpu_util", "util"))), None
    )
    held = next((at for at, name in enumerate(names) if name.startswith(("memory.used", "mem_used", "gpu_mem"))), None)
    if share is None or held is None or len(cells) != len(names):
        return None
    try:
        return float(cells[share]), float(cells[held])
    except ValueError:
        return None


def _snapshot(file: Beside, last: float) -> tuple[int, str, float, str] | None:
    """A dated list of processes, taken later, in which the training is still there."""
    numbered = list(file.tail.numbered())
    dated = [at for _, text in numbered[:3] if (at := seconds_of(text)) is not None]
    if not dated or dated[0] <= last:
        return None
    found = next(((number, text) for number, text in numbered if _PROCESS.search(text)), None)
    return (*found, dated[0], "the process still there") if found is not None else None


def span_text(seconds: float) -> str:
    """A stretch of time as people say it."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7_200 else f"{seconds / 3600:.1f} h"
