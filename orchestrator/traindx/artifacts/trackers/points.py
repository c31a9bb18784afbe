"""Points of a tracker's metrics, collected in bulk, and the series they become."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from traindx.artifacts.model import Axis, Series, Setting
from traindx.artifacts.names import MetricName, normalise

if TYPE_CHECKING:
    from traindx.artifacts.model import LineNumbers, Numbers

MOST_SERIES = 2_000
MOST_POINTS = 6_000_000
"""points of one file that are kept: about 150 MB of memory"""
_COUNTERS = frozenset({"epoch", "step"})


class Found(NamedTuple):
    """What a tracker's file or folder holds; `remarks` name no file, the caller does."""

    series: list[Series]
    settings: list[Setting]
    remarks: list[str]


@dataclass
class _Metric:
    """The points of one metric: whole arrays, and single ones in between."""

    arrays: list[tuple[LineNumbers, Numbers, Numbers]] = field(default_factory=list)
    records: array[int] = field(default_factory=lambda: array("q"))
    steps: array[float] = field(default_factory=lambda: array("d"))
    values: array[float] = field(default_factory=lambda: array("d"))

    def joined(self) -> tuple[LineNumbers, Numbers, Numbers]:
        """Record numbers, steps and values in the order of the records."""
        import numpy as np

        single = tuple(np.frombuffer(one, dtype=one.typecode) for one in (self.records, self.steps, self.values))
        records, steps, values = (np.concatenate(parts) for parts in zip(*self.arrays, single, strict=True))
        if bool((np.diff(records) < 0).any()):
            order = np.argsort(records, kind="stable")
            records, steps, values = records[order], steps[order], values[order]
        return records, steps, values


class Points:
    """The metrics of one file, by the names the file gives them."""

    def __init__(self) -> None:
        self._metrics: dict[str, _Metric] = {}
        self.count = 0
        self.overflow = ""

    @property
    def full(self) -> bool:
        """Whether no more points are taken."""
        return self.count >= MOST_POINTS

    def one(self, name: str, record: int, step: float, value: float) -> None:
        """Take in one point."""
        metric = self._metric(name)
        if metric is not None:
            metric.records.append(record)
            metric.steps.append(step)
            metric.values.append(value)
            self.count += 1

    def many(self, name: str, records: LineNumbers, steps: Numbers, values: Numbers) -> None:
        """Take in many points at once."""
        metric = self._metric(name)
        if metric is not None:
            metric.arrays.append((records, steps, values))
            self.count += len(values)

    def series(self, source: str, axis: Axis = "step") -> list[Series]:
        """The series, in the order in which they first appear; counters are none."""
        named = {name: normalise(name) for name in self._metrics}
        names = final_names(named)
        found = [
            record_series(names[original], original, source, axis, *metric.joined())
            for original, metric in self._metrics.items()
            if named[original].kind not in _COUNTERS
        ]
        return sorted(found, key=lambda one: int(one.lines[0]))

    def _metric(self, name: str) -> _Metric | None:
        metric = self._metrics.get(name)
        if self.full:
            self.overflow = f"it holds more than {MOST_POINTS:,} points; the later ones were left out"
        elif metric is None:
            if len(self._metrics) < MOST_SERIES:
                metric = self._metrics[name] = _Metric()
            else:
                self.overflow = f"it names more than {MOST_SERIES:,} metrics; the later ones were left out"
        return None if self.full else metric


def final_names(named: Mapping[str, MetricName]) -> dict[str, str]:
    """The normalised names; `train` alone is the loss, unless a loss is named beside it."""
    losses = {metric.name for metric in named.values() if metric.kind == "loss"}
    return {
        original: f"{metric.phase}/value" if metric.kind == "phase" and metric.name in losses else metric.name
        for original, metric in named.items()
    }


def record_series(
    name: str, original: str, source: str, axis: Axis, records: LineNumbers, at: Numbers, values: Numbers
) -> Series:
    """A series whose `lines` are the numbers of records."""
    return Series(name, original, source, axis, at, values, records)


def counted(kinds: Iterable[tuple[str, int]]) -> str:
    """`("histogram", 3), ("image", 1)` as `3 histograms, 1 image`."""
    return ", ".join(f"{count:,} {kind}{'s' if count > 1 else ''}" for kind, count in kinds)
