"""Whether one rank is slower than its peers, or stopped before them, by what each of them logged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

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
FEWEST_RECORDS = 5
"""of a rank in a file of records that name theirs"""
MOST_RANKS = 4_096
_LABEL = re.compile(r"rank(\d{1,6}):")
_COLUMNS = frozenset({"rank", "global_rank", "local_rank", "process_index", "process_id", "worker", "worker_id"})
"""columns in which a record says who wrote it"""


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
    series = [*series, *told_apart(series)]
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


def told_apart(series: Sequence[Series]) -> Iterator[Series]:
    """Series of files whose records have a column with the rank that wrote them, one for each rank."""
    for column in series:
        if column.original.lower() not in _COLUMNS or len(column) < 2 * FEWEST_RECORDS:
            continue
        found, counts = np.unique(column.values, return_counts=True)
        whole = np.isfinite(found).all() and (found == np.round(found)).all() and found[0] >= 0
        if not whole or not 2 <= len(found) <= MOST_RANKS or counts.min() < FEWEST_RECORDS:
            continue
        for row in series:
            if row is not column and row.source == column.source and np.array_equal(row.lines, column.lines):
                for rank in found.astype(int).tolist():
                    yield _of_rank(row, rank, np.flatnonzero(column.values == rank))


def _of_rank(row: Series, rank: int, own: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> Series:
    return replace(
        row,
        original=f"rank{rank}:{row.original}",
        at=row.at[own],
        values=row.values[own],
        lines=row.lines[own],
        texts=tuple(row.texts[place] for place in own.tolist()) if row.texts else (),
        steps=row.steps[own] if row.steps is not None else None,
        epochs=row.epochs[own] if row.epochs is not None else None,
        clock=None,
        restarts=(),
    )


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
    slow = next(
        (found for rows in groups.values() if (found := rank_pace.slower(rows, closer, groups.values())) is not None),
        None,
    )
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
