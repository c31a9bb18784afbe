"""Whether one rank is slower than its peers, or stopped before them, by what each of them logged."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite, position_text, where
from traindx.detectors.curves import rank_pace
from traindx.detectors.curves.onset import Closer
from traindx.readers.logs.ranks import rank_in_name
from traindx.readers.model import Series

SIGNALS = {
    **rank_pace.SIGNALS,
    "rank-stopped-first": "one rank stopped logging before the others",
}
MOST_BEHIND = 0.34
"""of the ranks may be behind: more than that is not one rank's trouble"""
_LABEL = re.compile(r"rank(\d{1,6}):")


def rank_of(row: Series, shared: Mapping[str, set[int]]) -> int | None:
    """The rank that logged a series; the first of those that share a file carries no label."""
    label = _LABEL.match(row.original)
    if label:
        return int(label[1])
    if shared.get(row.source):
        return 0 if 0 not in shared[row.source] else None
    named = rank_in_name(row.source)
    return named.number if named is not None and named.kind in {"rank", "local_rank", "worker", "gpu"} else None


def by_rank(series: Sequence[Series]) -> dict[str, dict[int, Series]]:
    """Series of the same name by rank, where several ranks logged them."""
    shared: dict[str, set[int]] = {}
    for row in series:
        label = _LABEL.match(row.original)
        if label:
            shared.setdefault(row.source, set()).add(int(label[1]))
    found: dict[str, dict[int, Series]] = {}
    for row in series:
        rank = rank_of(row, shared) if len(row) else None
        if rank is not None:
            found.setdefault(f"{row.name}|{row.axis}", {}).setdefault(rank, row)
    return {name: rows for name, rows in found.items() if len(rows) > 1}


def ranks_known(series: Sequence[Series]) -> set[int]:
    """Every rank that logged something."""
    return {rank for rows in by_rank(series).values() for rank in rows}


def last_steps(series: Sequence[Series]) -> dict[int, float]:
    """The last step or epoch that each rank logged."""
    found: dict[int, float] = {}
    for rows in by_rank(series).values():
        for rank, row in rows.items():
            if row.axis != "row":
                found[rank] = max(found.get(rank, 0.0), float(row.at[-1]))
    return found


def detect(series: Sequence[Series], closer: Closer | None = None) -> list[Signal]:
    """The slow rank and the one that stopped first."""
    groups = by_rank(series)
    slow = next((found for rows in groups.values() if (found := rank_pace.slower(rows, closer)) is not None), None)
    ended = next((found for rows in groups.values() if (found := _stopped(rows)) is not None), None)
    return [one for one in (slow, ended) if one is not None]


def _stopped(rows: Mapping[int, Series]) -> Signal | None:
    if len(rows) < 3 or next(iter(rows.values())).axis == "row":
        return None
    ends = {rank: float(row.at[-1]) for rank, row in rows.items()}
    usual = float(np.median(list(ends.values())))
    strides = [float(np.median(np.diff(row.at))) for row in rows.values() if len(row) > 2]
    stride = float(np.median(strides)) if strides else 0.0
    late = sorted(rank for rank, end in ends.items() if stride > 0 and usual - end >= 2 * stride)
    if not late or len(late) > MOST_BEHIND * len(rows):
        return None
    row = rows[late[0]]
    last = len(row) - 1
    ahead = next(other for rank, other in rows.items() if rank not in late and float(other.at[-1]) >= usual)
    end = len(ahead) - 1
    claim = f"rank {late[0]} logs nothing after {where(row, last)}, the others go on to {where(ahead, end)}"
    places = [cite(row, last, f"the last that rank {late[0]} logged"), cite(ahead, end, "the last of another rank")]
    facts: dict[str, Fact] = {"straggler": ", ".join(map(str, late[:8])), "stopped_at": position_text(row, last)}
    return Signal(id="rank-stopped-first", claim=claim, citations=places, facts=facts)
