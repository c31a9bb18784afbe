"""Whether the memory of a process or a device grows from step to step."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite, where
from traindx.detectors.curves.shape import Numbers
from traindx.readers.model import Series
from traindx.vocabulary.metrics import measures_host_share, measures_memory

SIGNALS = {
    "memory-grows": "memory grows steadily to the end of the run",
    "memory-steady": "memory stays at its level once everything is allocated",
    "host-memory-free": "much of the host's memory was free throughout",
}
FEWEST = 6
WINDOWS = 24
GROWN = 1.25
"""end over start from which growth is no allocation of the first steps"""
RISING = 0.7
"""share of the windows that lie above the one before"""
LATE_SHARE = 0.15
"""of all growth, what the last third adds at least: a leak is linear, caches and allocators settle"""
STEADY = 0.05
FREE = 60
"""percent in use at most: what a run adds between two measurements rarely fills the rest (a job may have less)"""


def memory_series(series: Sequence[Series]) -> list[Series]:
    """The series that measure memory, longest first."""
    found = [row for row in series if measures_memory(row.original) and len(row) >= FEWEST and not row.duplicate_of]
    return sorted(found, key=lambda row: -len(row))


def detect(series: Sequence[Series]) -> list[Signal]:
    """Whether memory grows or stays where it is, and whether the host ever ran short."""
    return [*_course(memory_series(series)), *_free(series)]


def _course(rows: Sequence[Series]) -> list[Signal]:
    """Growth that goes on to the end, in the first series that shows it; else that memory stays where it is."""
    grown = next((signal for row in rows if (signal := _growth(row)) is not None), None)
    if grown is not None:
        return [grown]
    steady = next((row for row in rows if _is_steady(_levels(row))), None)
    if steady is None:
        return []
    claim = f"`{steady.original}` stays near {_levels(steady)[-1]:.4g} over the second half of the run"
    return [Signal(id="memory-steady", claim=claim, citations=[cite(steady, len(steady) - 1, claim)])]


def _free(series: Sequence[Series]) -> list[Signal]:
    """The host's memory in percent, as `traindx run` and W&B write it."""
    for row in series:
        if measures_host_share(row.original) and np.isfinite(row.values).sum() >= FEWEST:
            highest = float(np.nanmax(row.values))
            if 1 < highest < FREE:
                claim = f"`{row.original}` never exceeds {highest:.3g} %"
                place = cite(row, int(np.nanargmax(row.values)), claim)
                return [Signal(id="host-memory-free", claim=claim, citations=[place])]
    return []


def _growth(row: Series) -> Signal | None:
    levels = _levels(row)
    if len(levels) < FEWEST or levels[0] <= 0:
        return None
    total = float(levels[-1] - levels[0])
    late = float(levels[-1] - levels[-1 - len(levels) // 3])
    rising = float(np.mean(np.diff(levels) > 0))
    if levels[-1] < GROWN * levels[0] or rising < RISING or late < LATE_SHARE * total:
        return None
    last = len(row) - 1
    span = float(row.at[last] - row.at[0])
    pace = (float(row.values[last]) - float(row.values[0])) / span if span else 0.0
    unit = f" {row.unit}" if row.unit else ""
    claim = (
        f"`{row.original}` grows from {row.values[0]:.4g} to {row.values[last]:.4g}{unit} by the end,"
        f" {pace:.3g}{unit} per {row.axis}"
    )
    places = [
        cite(row, 0, f"memory at the start: {row.values[0]:.4g}"),
        cite(row, last, f"memory at the end: {row.values[last]:.4g}"),
    ]
    facts: dict[str, Fact] = {
        "memory_start": float(row.values[0]),
        "memory_end": float(row.values[last]),
        "memory_pace": f"{pace:.3g}{unit} per {row.axis}",
        "memory_since": where(row, 0),
    }
    return Signal(id="memory-grows", claim=claim, citations=places, facts=facts)


def pace(row: Series) -> str:
    """The slope of a straight line through the series with its standard error: growth is what exceeds twice that."""
    good = np.isfinite(row.values) & np.isfinite(row.at)
    at, values = row.at[good], row.values[good]
    spread = float(((at - at.mean()) ** 2).sum()) if len(at) else 0.0
    if len(at) < FEWEST or spread == 0:
        return ""
    slope = float(((at - at.mean()) * (values - values.mean())).sum()) / spread
    rest = values - values.mean() - slope * (at - at.mean())
    error = float(np.sqrt((rest**2).sum() / (len(at) - 2) / spread))
    certain = "grows" if slope > 2 * error else "falls" if slope < -2 * error else "no trend"
    unit = f" {row.unit}" if row.unit else ""
    return f"{slope:+.3g} ± {error:.1g}{unit} per {row.axis}: {certain}"


def _levels(row: Series) -> Numbers:
    """The lowest value of each of a few windows: what is kept, not what a step takes for a moment."""
    values = row.values[np.isfinite(row.values)]
    edges = np.linspace(0, len(values), min(len(values), WINDOWS) + 1).astype(int)
    return np.array([values[first:last].min() for first, last in pairwise(edges.tolist())])


def _is_steady(levels: Numbers) -> bool:
    half = levels[len(levels) // 2 :]
    return len(levels) >= FEWEST and bool(np.ptp(half) <= STEADY * abs(float(half[-1])))
