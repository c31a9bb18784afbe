"""Whether one rank is slower than its peers: by the time of its steps, or by how little it waits for the others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite, nearest_index, position_text, where
from traindx.detectors.curves.onset import Closer, exact_onset
from traindx.readers.model import Series

SIGNALS = {"rank-slower": "one rank takes longer than its peers, step after step"}
SLOWER = 1.4
"""over the median of the peers: ranks of one job differ by a few percent"""
WAITS_LESS = 5.0
"""times as long as the late rank the others wait where all must meet"""
USUALLY = 0.7
"""share of the steps on which the slow one must be the slowest"""
FEWEST_STEPS = 5
MATTERS = 0.1
"""of the longest time that the slow rank tells of: what takes less of a step holds nobody up"""
SETTLED = 0.1
"""of the steps at the start, which compile, allocate and fill caches"""
LATE = 0.2
"""of the run, its end, that may be slow by itself: what began late is a fault, what is over is none"""
MOST_WINDOWS = 400
# What waiting for others hides: a collective ends on all ranks at once, work before it does not.
_TIME = re.compile(
    r"(?:^|[/_ ])(?:time|secs?|seconds|ms|elapsed|duration|latency)(?:$|[/_ ])|(?:time|_ms|_s)$"
    r"|^(?:d?t|dur)[/_.](?:data|load|fetch|read|io\b|input|prep|decode|aug|copy|h2d|batch|step|iter|fwd|forward|bwd"
    r"|backward|comp|opt|update|all[-_ ]?reduce|comm|nccl|sync|wait|barrier)",
    re.IGNORECASE,
)
_UNITS = frozenset({"ms", "s", "sec", "secs", "seconds", "us"})
_OTHER_TIME = re.compile(
    r"eta|wall|total|start|remain|stamp|runtime|epoch|cumul|comm|nccl|sync|wait|ckpt|checkpoint|eval|save|barrier|reduce",
    re.IGNORECASE,
)
_WHOLE_RUN = re.compile(r"eta|wall|total|start|remain|stamp|runtime|epoch|cumul|elapsed|since", re.IGNORECASE)
_WAITING = re.compile(r"wait|sync|barrier|all[-_ ]?reduce|nccl|idle", re.IGNORECASE)

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Slow:
    """The rank that stands out, since when, and the levels on both sides."""

    rank: int
    begins: int
    level: float
    peers: float
    since: float


def slower(
    rows: Mapping[int, Series], closer: Closer | None = None, others: Iterable[Mapping[int, Series]] = ()
) -> Signal | None:
    """The rank that is slower than the others, to the end of the run; from the beginning, or since some step.

    `others` are what else the ranks logged, by rank: their times tell whether this one matters.
    """
    first = next(iter(rows.values()))
    measured = first.original.rpartition(":")[2]
    timed = _TIME.search(measured) is not None or first.unit in _UNITS
    if timed and not _OTHER_TIME.search(measured):
        found = _outlier(rows, SLOWER, waiting=False)
        if found is not None and not _matters(found, first.unit, others):
            return None
    elif timed and _WAITING.search(measured) and len(rows) > 2:
        found = _outlier(rows, WAITS_LESS, waiting=True)
    else:
        return None
    return None if found is None else _told(rows, measured, found, closer, waiting=bool(_WAITING.search(measured)))


def _matters(found: _Slow, unit: str, others: Iterable[Mapping[int, Series]]) -> bool:
    """Whether the time is a good part of the longest that the rank tells of, in the same unit."""
    times = [row[found.rank] for row in others if found.rank in row]
    longest = max(
        (float(np.median(row.values)) for row in times if row.unit == unit and _is_time(row) and len(row)), default=0.0
    )
    return found.level >= MATTERS * longest


def _is_time(row: Series) -> bool:
    measured = row.original.rpartition(":")[2]
    return _TIME.search(measured) is not None and not _WHOLE_RUN.search(measured)


def _outlier(rows: Mapping[int, Series], times: float, *, waiting: bool) -> _Slow | None:
    ranks = sorted(rows)
    table, edges = _windows([rows[rank] for rank in ranks])
    skip = max(1, int(SETTLED * table.shape[1]))
    table, edges = table[:, skip:], edges[skip:]
    if table.shape[1] < FEWEST_STEPS or not np.isfinite(table).all() or (table < 0).any():
        return None
    # A rank that waits for nobody is the one that all others wait for.
    costs = 1 / np.maximum(table, 1e-9) if waiting else table
    last = costs[:, -max(FEWEST_STEPS, int(LATE * costs.shape[1])) :]
    levels = np.median(last, axis=1)
    slowest = int(np.argmax(levels))
    others = np.delete(costs, slowest, axis=0)
    if levels[slowest] < times * float(np.median(np.delete(levels, slowest))) or levels[slowest] <= 0:
        return None
    behind = costs[slowest] > np.sqrt(times) * np.median(others, axis=0)
    usual = (np.argmax(last, axis=0) == slowest) & behind[-last.shape[1] :]
    if float(np.mean(usual)) < USUALLY:
        return None
    begins = _since(behind)
    after = table[:, begins:]
    peers = float(np.median(np.delete(np.median(after, axis=1), slowest)))
    return _Slow(ranks[slowest], begins, float(np.median(after[slowest])), peers, float(edges[begins]))


def _windows(rows: list[Series]) -> tuple[Numbers, Numbers]:
    """Medians by rank and stretch of steps, and where each stretch begins; points of thinned series need not meet."""
    begin, end = max(float(row.at[0]) for row in rows), min(float(row.at[-1]) for row in rows)
    count = min(MOST_WINDOWS, *(len(row) for row in rows))
    even = all(len(row) == count and (row.at == rows[0].at).all() for row in rows)
    if even:
        return np.array([row.values for row in rows], dtype=np.float64), rows[0].at
    edges = np.linspace(begin, end, max(2, count // 2) + 1)
    table = np.full((len(rows), len(edges) - 1), np.nan)
    for place, row in enumerate(rows):
        bounds = np.searchsorted(row.at, edges)
        bounds[-1] = len(row)
        for window, (first, after) in enumerate(pairwise(bounds.tolist())):
            if after > first:
                table[place, window] = np.median(row.values[first:after])
    return table, edges[:-1]


def _since(behind: npt.NDArray[np.bool_]) -> int:
    """The stretch from which on the rank is behind, a few better ones aside."""
    shares = np.cumsum(behind[::-1])[::-1] / np.arange(len(behind), 0, -1)
    begins = np.flatnonzero((shares >= USUALLY) & behind)
    return int(begins[0]) if len(begins) else 0


def _told(rows: Mapping[int, Series], measured: str, found: _Slow, closer: Closer | None, *, waiting: bool) -> Signal:
    slow = rows[found.rank]
    other = next(row for rank, row in sorted(rows.items()) if rank != found.rank)
    unit = f" {slow.unit}" if slow.unit else ""
    claim = (
        f"rank {found.rank} {'waits' if waiting else 'takes'} {found.level:.3g}{unit} of `{measured}`,"
        f" the other {len(rows) - 1} ranks {found.peers:.3g}{unit}"
    )
    facts: dict[str, Fact] = {"straggler": str(found.rank)}
    if not waiting:
        times = found.level / max(found.peers, 1e-9)
        facts |= {
            "slow_time": f"{found.level:.3g}{unit}",
            "peer_time": f"{found.peers:.3g}{unit}",
            "slower_by": f"{times:.2g}" if times < 10 else f"{times:.0f}",
        }
    last = len(slow) - 1
    places = [
        cite(slow, last, f"rank {found.rank} at {where(slow, last)}: {slow.values[last]:.3g}"),
        cite(other, len(other) - 1, f"a peer at {where(other, len(other) - 1)}: {other.values[-1]:.3g}"),
    ]
    if found.begins:
        # A rank that waits for nobody shows no change of its own: the others begin to wait.
        row = other if waiting else slow
        begins = exact_onset(row, _first_point(row, found), lambda values: _is_high(values, found), closer)
        claim += f", since {where(*begins)}"
        facts["slow_since"] = position_text(*begins)
        places.insert(0, cite(*begins, f"from here on: {begins[0].values[begins[1]]:.3g}"))
    return Signal(id="rank-slower", claim=claim, citations=places, facts=facts)


def _first_point(row: Series, found: _Slow) -> int:
    """The first point on the higher level, near the beginning of the stretch in which it changed."""
    around = nearest_index(row, found.since)
    reach = max(3, 4 * len(row) // MOST_WINDOWS)
    first = max(0, around - reach)
    changed = _is_high(row.values[first : around + reach + 1], found)
    return first + int(np.argmax(changed)) if changed.any() else around


def _is_high(values: Numbers, found: _Slow) -> npt.NDArray[np.bool_]:
    """Which values lie above the middle between the slow rank and its peers."""
    high: npt.NDArray[np.bool_] = values > np.sqrt(max(found.level, 1e-9) * max(found.peers, 1e-9))
    return high
