"""How much of a run is read: bounds on time and number, and an account of what was read of how much."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from traindx.readers.model import Role

POINTS_OF_FILE = 3_000_000
"""points of all series of a file: some 120 MB"""
Unit = Literal["files", "bytes", "rows", "values", "runs"]


@dataclass(frozen=True)
class Limits:
    """What reading a run may take; the defaults let everything of ordinary size be read whole."""

    seconds: float = 25.0
    """for each kind of thing (series, errors, code, …); once they are spent, what is left is sampled"""
    files: Mapping[Role, int] = field(
        default_factory=lambda: {
            "log": 5_000,
            "metrics": 5_000,
            "config": 2_000,
            "checkpoint": 500,
            "data": 2_000,
            "trace": 5_000,
        }
    )
    points: int = 4_000_000
    """points of all series together: some 160 MB"""


@dataclass(frozen=True)
class Covered:
    """How much of one kind of thing was read."""

    what: str
    unit: Unit
    read: int
    of: int

    @property
    def whole(self) -> bool:
        """Whether nothing was left out."""
        return self.read >= self.of


class Coverage:
    """Notes what was read of each file; a file that several readers read counts once, by the one that read least."""

    def __init__(self) -> None:
        self._noted: dict[tuple[str, Unit], dict[str, tuple[int, int]]] = {}

    def note(self, what: str, unit: Unit, path: str, read: int, of: int) -> None:
        """Note how much of a file was read."""
        noted = self._noted.setdefault((what, unit), {})
        before = noted.get(path, (read, of))
        noted[path] = (min(read, before[0]), max(of, before[1]))

    def rows(self) -> list[Covered]:
        """The account, one row for each kind of thing and unit."""
        return [
            Covered(what, unit, sum(read for read, _ in noted.values()), sum(of for _, of in noted.values()))
            for (what, unit), noted in self._noted.items()
        ]


class Timer:
    """The time that one kind of reading has; it runs from the first question on."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._began: float | None = None

    def spent(self) -> bool:
        """Whether the time is up."""
        if self._began is None:
            self._began = self._clock()
        return self._clock() - self._began >= self._seconds


class Allowance:
    """What one file may take: readers ask whether the time is spent, and tell how much they read."""

    def __init__(
        self,
        timer: Timer | None = None,
        told: Callable[[int, int], None] | None = None,
        points: int = POINTS_OF_FILE,
    ) -> None:
        self.timer, self._told = timer, told
        self.points = points
        """points of all its series that may be kept"""

    def spent(self) -> bool:
        """Whether only samples of what is left may be read."""
        return self.timer is not None and self.timer.spent()

    def note(self, read: int, of: int) -> None:
        """Tell how much of the file was read, in the unit of the reader."""
        if self._told is not None:
            self._told(read, of)


def shared_out(needs: Mapping[str, int], total: int) -> dict[str, int]:
    """A share of the total for everyone: the modest get what they need, the others the same of what is left."""
    shares: dict[str, int] = {}
    left = total
    for place, (name, need) in enumerate(sorted(needs.items(), key=lambda item: item[1])):
        shares[name] = min(need, left // (len(needs) - place))
        left -= shares[name]
    return shares
