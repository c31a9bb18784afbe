"""When a finding is certain enough to be told: it must hold while the run goes on, and is told once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from traindx.contract import SEVERITIES, Diagnosis, RootCause
from traindx.diagnosis.catalog import Live
from traindx.watch.finding import Finding

PROVED = 0.9
"""from here on the confidence policy wants direct evidence: the faulty line, the text of the error"""
SETTLED_POINTS = 300
"""values after which a run is past its start, where losses leap about"""
FEWEST_SECONDS = 1.0
"""for which an event must hold: between two judgements, or from where it was noticed to the one that proves it"""
GROWN = 2.0
"""times the data that a curve's finding must hold for: what half of a run shows by chance, the next half does not"""
GONE = 2
"""judgements over new data in a row that no longer show what was told"""


@dataclass(frozen=True)
class Moment:
    """How far a run is when it is judged."""

    size: int
    points: int
    clock: float
    time: str
    ended: bool = False
    noticed: float | None = None
    """when that was seen in the files which the judgement is about, where it was made for that"""


@dataclass
class _Entry:
    """What is known of one cause."""

    cause: RootCause
    since: Moment
    latest: Moment
    told: int = -1
    """the severity it was told with; -1 for not yet"""
    gone: int = 0
    recovered: bool = False


class Certainty:
    """The findings of one watch and what was told of each."""

    def __init__(self, path: str, live: Callable[[str], Live]) -> None:
        self._path, self._live = path, live
        self._entries: dict[str, _Entry] = {}

    @property
    def waiting(self) -> bool:
        """Whether an event was seen that a second look would confirm."""
        return any(entry.told < 0 and not entry.gone and self._is_event(entry) for entry in self._entries.values())

    def weigh(self, diagnosis: Diagnosis, now: Moment, asked: bool = False) -> list[Finding]:
        """What is to be told after a judgement; `asked` if it answers a question about a run that stands still."""
        likely = [cause for cause in diagnosis.root_causes if cause.likely]
        told = [row for cause in likely for row in self._seen(cause, now, asked)]
        seen = {cause.name for cause in likely}
        return told + [
            row for name, entry in self._entries.items() if name not in seen for row in self._gone(entry, now)
        ]

    def _seen(self, cause: RootCause, now: Moment, asked: bool) -> Sequence[Finding]:
        entry = self._entries.get(cause.name)
        if entry is None or (entry.gone and entry.told < 0):
            entry = self._entries[cause.name] = _Entry(cause, now, now)
        entry.cause, entry.latest, entry.gone = cause, now, 0
        severity = SEVERITIES.index(cause.severity)
        if severity <= entry.told or not (self._is_certain(entry, now) or asked):
            return []
        kind: Literal["found", "graver"] = "found" if entry.told < 0 else "graver"
        entry.told, entry.recovered = severity, False
        return [Finding.of(cause, kind, self._path, now.time).model_copy(update={"at_end": now.ended})]

    def _gone(self, entry: _Entry, now: Moment) -> Sequence[Finding]:
        if now.size > entry.latest.size or now.ended:
            entry.gone += 1
            entry.latest = now
        if entry.told < 0 or entry.recovered or (entry.gone < GONE and not now.ended):
            return []
        entry.recovered = True
        return [Finding.of(entry.cause, "recovered", self._path, now.time)]

    def _is_event(self, entry: _Entry) -> bool:
        """Whether an event shows it; at the start of a run only what is proved is one."""
        settled = entry.cause.confidence >= PROVED or entry.since.points >= SETTLED_POINTS
        return settled and self._live(entry.cause.id) == "at-once"

    def _is_certain(self, entry: _Entry, now: Moment) -> bool:
        if now.ended:
            return True
        if self._live(entry.cause.id) == "at-the-end":
            return False
        if self._is_event(entry):
            since = entry.since.clock
            if now.noticed is not None and entry.cause.confidence >= PROVED:
                since = min(since, now.noticed)
            return now.clock - since >= FEWEST_SECONDS
        return now.size >= GROWN * entry.since.size
