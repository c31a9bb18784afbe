"""Which rank the others waited for when a collective timed out, by what each rank's watchdog says of itself.

The reports come from the ranks that wait. A rank whose last enqueued work equals its last completed one never entered
the collective; one that reports nothing at all while its peers do was not there either.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.citing import cite_line
from traindx.readers.logs.ranks import rank_in_name
from traindx.readers.model import LogError
from traindx.readers.traces.flight import PLACE
from traindx.vocabulary.collectives import GROUP, SPEAKER, STATUS, STUCK, TOLD

SIGNALS = {
    "rank-never-entered": "a rank never entered the collective that the other ranks waited in",
    "collectives-differ": "ranks wait in different collectives, or in the same one with different sizes",
    "ranks-all-waited": "every rank that reports waited in the same collective",
}
FEWEST = 2
"""ranks that must have reported before one can be told apart"""
MOST_NAMED = 8
_CLOCK = re.compile(r"(?<!\d)(\d\d):(\d\d):(\d\d)")
_DATE = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")


@dataclass(frozen=True)
class _Report:
    """What one rank says of one process group."""

    rank: int
    row: LogError
    group: str = ""
    enqueued: int | None = None
    completed: int | None = None
    sequence: int | None = None
    operation: str = ""
    size: int | None = None
    ran_ms: int | None = None

    @property
    def absent(self) -> bool:
        """Whether the rank had nothing under way: it never entered what the others waited in."""
        return self.enqueued is not None and self.enqueued == self.completed


def detect(errors: Sequence[LogError], known: Collection[int] = ()) -> list[Signal]:
    """Who was waited for. `known` are the ranks that the job has, as far as anything tells."""
    reports = [found for row in errors for found in [_report(row)] if found is not None]
    stuck = {one.rank: one for one in reversed(reports) if one.sequence is not None}
    states = _states(reports)
    if not stuck and not states:
        return []
    differing = _differing(stuck)
    if differing is not None:
        return [differing]
    absent = [one for one in states.values() if one.absent]
    waiting = [one for one in states.values() if not one.absent]
    if absent and (waiting or stuck) and len(absent) <= max(1, len(states) // 2):
        return [_never_entered([(one.rank, one.row) for one in absent], stuck, _WORK)]
    behind = _behind(waiting)
    if behind:
        return [_never_entered([(one.rank, one.row) for one in behind], stuck, _BEHIND)]
    silent = sorted(set(known) - set(stuck) - set(states))
    if silent and len(stuck) >= FEWEST and len(silent) <= len(known) // 4 + 1 and len(silent) < len(stuck):
        said = {one.rank: one.row for one in reversed(reports) if one.absent}
        return [_never_entered([(rank, said.get(rank)) for rank in silent], stuck, _SILENT)]
    return _all_waited(stuck)


_WORK = "its last enqueued work is its last completed one"
_BEHIND = "its last enqueued work is behind that of the others"
_SILENT = "it reports no timeout, the others do"


def speaks_of_collectives(row: LogError) -> bool:
    """Whether a line tells how far a rank's collectives came, or in which one it waits."""
    return STATUS.search(row.text) is not None or STUCK.search(row.text) is not None


def _report(row: LogError) -> _Report | None:
    status, stuck = STATUS.search(row.text), STUCK.search(row.text)
    # A rank that was told of the timeout by another did not start it; how far it came itself counts all the same.
    if status is None and (stuck is None or TOLD.search(row.text)):
        return None
    group, speaker = GROUP.search(row.text), SPEAKER.search(row.text)
    named = rank_in_name(row.source)
    # A rank inside a process group may have another number there than in the job.
    rank = row.rank if row.rank is not None else int(speaker["rank"]) if speaker else None
    rank = rank if rank is not None else int(group["rank"]) if group else named.number if named else None
    if rank is None:
        return None
    return _Report(
        rank=rank,
        row=row,
        group=group["group"] if group else "",
        enqueued=int(status["enqueued"]) if status else None,
        completed=int(status["completed"]) if status else None,
        sequence=int(stuck["sequence"]) if stuck else None,
        operation=stuck["operation"] if stuck else "",
        size=int(stuck["given"]) if stuck and stuck["given"] else None,
        ran_ms=int(stuck["ran"]) if stuck and stuck["ran"] else None,
    )


def _states(reports: Iterable[_Report]) -> dict[int, _Report]:
    """How far each rank came in the process group that most ranks speak of."""
    told = [one for one in reports if one.enqueued is not None]
    groups = Counter(one.group for one in {(one.group, one.rank): one for one in told}.values())
    main = groups.most_common(1)[0][0] if groups else ""
    return {one.rank: one for one in reversed(told) if one.group == main}


def _behind(waiting: Sequence[_Report]) -> list[_Report]:
    """Ranks that enqueued less than the collective which the others have already completed."""
    reached = [one.completed for one in waiting if one.completed is not None]
    if len(reached) < FEWEST + 1:
        return []
    usual = sorted(reached)[len(reached) // 2]
    late = [one for one in waiting if one.enqueued is not None and one.enqueued < usual]
    return late if len(late) <= len(waiting) // 4 else []


def _differing(stuck: Mapping[int, _Report]) -> Signal | None:
    """Ranks that wait in different operations under the same number, or in the same one with different sizes."""
    numbers = Counter(one.sequence for one in stuck.values())
    if not numbers:
        return None
    same = [one for one in stuck.values() if one.sequence == numbers.most_common(1)[0][0]]
    operations = Counter((one.operation, one.size) for one in same)
    if len(operations) < 2:
        return None
    (first, size), (other, another) = [row for row, _ in operations.most_common(2)]
    odd = [one for one in same if (one.operation, one.size) == (other, another)]
    usual = next(one for one in same if (one.operation, one.size) == (first, size))
    what = f"{other} of {another} elements" if first == other else other
    against = f"{first} of {size} elements" if first == other else first
    ranks = _listed([one.rank for one in odd])
    claim = f"under number {usual.sequence}, rank {ranks} waits in {what}, the others in {against}"
    places = [_cite(one.row, f"rank {one.rank}") for one in (usual, odd[0])]
    facts: dict[str, Fact] = {"straggler": ranks, "sequence": usual.sequence or 0, "operation": other, "usual": first}
    return Signal(id="collectives-differ", claim=claim, citations=places, facts=facts)


def _never_entered(late: Sequence[tuple[int, LogError | None]], stuck: Mapping[int, _Report], why: str) -> Signal:
    ranks = [rank for rank, _ in late]
    others = [one for rank, one in stuck.items() if rank not in ranks]
    places = [_cite(row, f"rank {rank}: {why}") for rank, row in late[:3] if row is not None]
    facts: dict[str, Fact] = {"straggler": _listed(ranks)}
    waited = min(others or stuck.values(), key=lambda one: (one.row.source, one.row.line), default=None)
    if waited is not None:
        places.append(_cite(waited.row, f"rank {waited.rank} waits for it"))
        facts |= _when(waited)
    claim = f"rank {_listed(ranks)} never entered the collective that the others waited in: {why}"
    return Signal(id="rank-never-entered", claim=claim, citations=places, facts=facts)


def _all_waited(stuck: Mapping[int, _Report]) -> list[Signal]:
    numbers = {one.sequence for one in stuck.values()}
    if len(stuck) < FEWEST or len(numbers) != 1:
        return []
    one = next(iter(stuck.values()))
    claim = f"all {len(stuck)} ranks that report waited in the same {one.operation}, number {one.sequence}"
    place = _cite(one.row, claim)
    return [Signal(id="ranks-all-waited", claim=claim, citations=[place], facts=_when(one))]


def _when(one: _Report) -> dict[str, Fact]:
    """What the collective was, and when it began to hang: the time of the timeout minus its length."""
    facts: dict[str, Fact] = {"sequence": one.sequence or 0, "operation": one.operation}
    if one.ran_ms is None:
        return facts
    facts["waited_s"] = round(one.ran_ms / 1000)
    dated, clock = _DATE.search(one.row.text), _CLOCK.search(one.row.text)
    if dated:
        began = datetime.fromisoformat(dated[0].replace(" ", "T")) - timedelta(milliseconds=one.ran_ms)
        facts["stuck_since"] = began.strftime("%Y-%m-%d %H:%M:%S")
    elif clock:
        hours, minutes, seconds = map(int, clock.groups())
        began = datetime(2000, 1, 2, hours % 24, minutes % 60, seconds % 60) - timedelta(milliseconds=one.ran_ms)
        facts["stuck_since"] = began.strftime("%H:%M:%S")
    return facts


def _cite(row: LogError, claim: str) -> Citation:
    if row.line:
        return cite_line(row.source, row.line, claim, row.text)
    return Citation(claim=claim, source=row.source, locator=f"{PLACE}{row.rank}", quote=row.text)


def _listed(ranks: Sequence[int]) -> str:
    shown = ", ".join(map(str, sorted(ranks)[:MOST_NAMED]))
    return f"{shown} and {len(ranks) - MOST_NAMED} more" if len(ranks) > MOST_NAMED else shown
