"""Points of a tracker's metrics, collected in bulk, and the series they become."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from traindx.readers.model import Series, Setting
from traindx.vocabulary.metrics import MetricName, normalise

if TYPE_CHECKING:
    from traindx.readers.model import LineNumbers, Numbers

MOST_SERIES = 2_000
MOST_POINTS = 4_000_000
"""points of one file that are kept: about 130 MB of memory"""
_MOST_RESTARTS = 100
_MOST_ODD = 1_000
_COUNTERS = frozenset({"epoch", "step"})


class Found(NamedTuple):
    """What a tracker's file or folder holds; `remarks` name no file, the caller does."""

    series: list[Series]
    settings: list[Setting]
    remarks: list[str]


class Stretch(NamedTuple):
    """Points of one metric: their record numbers, steps, values and wall-clock times (NaN where unknown)."""

    records: LineNumbers
    steps: Numbers
    values: Numbers
    walls: Numbers

    def thinned(self, one_in: int) -> Stretch:
        """One point in so many, and those that are not finite."""
        import numpy as np

        if one_in == 1:
            return self
        kept = np.zeros(len(self.values), dtype=bool)
        kept[::one_in] = True
        kept[np.flatnonzero(~np.isfinite(self.values))[:_MOST_ODD]] = True
        return Stretch(self.records[kept], self.steps[kept], self.values[kept], self.walls[kept])


@dataclass
class _Metric:
    """The points of one metric: whole stretches, and single ones in between."""

    stretches: list[Stretch] = field(default_factory=list)
    records: array[int] = field(default_factory=lambda: array("q"))
    steps: array[float] = field(default_factory=lambda: array("d"))
    values: array[float] = field(default_factory=lambda: array("d"))
    walls: array[float] = field(default_factory=lambda: array("d"))

    def joined(self) -> Stretch:
        """All points in the order of the records; they are handed over, not kept."""
        import numpy as np

        singles = (self.records, self.steps, self.values, self.walls)
        single = Stretch(*(np.frombuffer(one, dtype=one.typecode) for one in singles))
        joined = Stretch(*(np.concatenate(parts) for parts in zip(*self.stretches, single, strict=True)))
        self.stretches = []
        self.records, self.steps, self.values, self.walls = array("q"), array("d"), array("d"), array("d")
        if bool((joined.records[1:] < joined.records[:-1]).any()):
            order = np.argsort(joined.records, kind="stable")
            records, steps, values, walls = joined
            joined = Stretch(records[order], steps[order], values[order], walls[order])
        return joined


class Points:
    """The metrics of one file, by the names the file gives them; of too many points some are kept."""

    def __init__(self) -> None:
        self._metrics: dict[str, _Metric] = {}
        self._one_in = 1
        self._unnamed = False
        self.count = 0

    @property
    def overflow(self) -> str:
        """What was left out, in words."""
        said = []
        if self._one_in > 1:
            said.append(f"it holds more than {MOST_POINTS:,} points; one in {self._one_in} was kept")
        if self._unnamed:
            said.append(f"it names more than {MOST_SERIES:,} metrics; the later ones were left out")
        return "; ".join(said)

    def one(self, name: str, record: int, step: float, value: float, wall: float = math.nan) -> None:
        """Take in one point."""
        metric = self._metric(name)
        if metric is not None:
            metric.records.append(record)
            metric.steps.append(step)
            metric.values.append(value)
            metric.walls.append(wall)
            self._grow(1)

    def many(self, name: str, points: Stretch) -> None:
        """Take in many points at once."""
        metric = self._metric(name)
        if metric is not None:
            points = points.thinned(self._one_in)
            metric.stretches.append(points)
            self._grow(len(points.values))

    def series(self, source: str) -> list[Series]:
        """The series, in the order in which they first appear; counters are none. The points are handed over."""
        named = {name: normalise(name) for name in self._metrics}
        names = final_names(named)
        found = [
            record_series(names[original], original, source, metric.joined(), self._one_in)
            for original, metric in self._metrics.items()
            if named[original].kind not in _COUNTERS
        ]
        return sorted(found, key=lambda one: int(one.lines[0]))

    def _metric(self, name: str) -> _Metric | None:
        metric = self._metrics.get(name)
        if metric is None:
            if len(self._metrics) >= MOST_SERIES:
                self._unnamed = True
                return None
            metric = self._metrics[name] = _Metric()
        return metric

    def _grow(self, points: int) -> None:
        self.count += points
        if self.count > MOST_POINTS:
            self._one_in *= 2
            self.count = 0
            for metric in self._metrics.values():
                joined = metric.joined().thinned(2)
                metric.stretches.append(joined)
                self.count += len(joined.values)


def final_names(named: Mapping[str, MetricName]) -> dict[str, str]:
    """The normalised names; `train` alone is the loss, unless a loss is named beside it."""
    losses = {metric.name for metric in named.values() if metric.kind == "loss"}
    return {
        original: f"{metric.phase}/value" if metric.kind == "phase" and metric.name in losses else metric.name
        for original, metric in named.items()
    }


def record_series(name: str, original: str, source: str, points: Stretch, one_in: int) -> Series:
    """A series by step whose `lines` are the numbers of records."""
    import numpy as np

    return Series(
        name=name,
        original=original,
        source=source,
        axis="step",
        at=points.steps,
        values=points.values,
        lines=points.records,
        place="record",
        steps=points.steps,
        clock=points.walls if bool(np.isfinite(points.walls).any()) else None,
        restarts=tuple((np.flatnonzero(points.steps[1:] < points.steps[:-1]) + 1)[:_MOST_RESTARTS].tolist()),
        thinned=one_in,
    )


def counted(kinds: Iterable[tuple[str, int]]) -> str:
    """`("histogram", 3), ("image", 1)` as `3 histograms, 1 image`."""
    return ", ".join(f"{count:,} {kind}{'s' if count > 1 else ''}" for kind, count in kinds)
