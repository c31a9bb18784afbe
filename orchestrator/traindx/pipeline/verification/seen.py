"""A run as its diagnosis saw it: the signals, the tools that looked, the curves."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from traindx.contract import Citation, ContextPackage, Diagnosis, SeriesSummary, Signal
from traindx.errors import UsageError
from traindx.pipeline.inputs import open_run
from traindx.pipeline.options import Choices
from traindx.pipeline.session import Session
from traindx.vocabulary.metrics import normalise

METRICS = "extract_training_metrics"
MOST_POINTS = 4_000
# What an agent is judged by: the loss of a policy gradient says nothing about how well it acts.
_RETURN = re.compile(r"(?:^|[^a-z])(?:returns?|rewards?|rew)(?:[^a-z]|$)", re.IGNORECASE)


@dataclass(frozen=True)
class Curve:
    """A series with its points, as many as are needed to compare; a run's later files go on with the earlier ones'."""

    summary: SeriesSummary
    at: Sequence[float]
    values: Sequence[float]
    lines: Sequence[int]
    sources: Sequence[str]
    """of each point"""

    def cite(self, index: int, claim: str) -> Citation:
        """One of its points."""
        row = self.summary
        place = f"{row.axis} {self.at[index]:.10g} of {row.name}"
        return Citation(claim=claim, source=self.sources[index], locator=place, quote=f"{self.values[index]:.6g}")

    def followed_by(self, other: Curve) -> Curve:
        """This curve and the one that goes on where it ends."""
        ends = {"end": other.summary.end, "last": other.summary.last}
        return Curve(
            self.summary.model_copy(update=ends),
            [*self.at, *other.at],
            [*self.values, *other.values],
            [*self.lines, *other.lines],
            [*self.sources, *other.sources],
        )


@dataclass(frozen=True)
class Seen:
    """What is known about one run."""

    path: str
    context: ContextPackage
    diagnosis: Diagnosis
    signals: Mapping[str, Signal]
    finders: Mapping[str, Sequence[str]]
    """signal -> the tools that may find it"""
    status: Mapping[str, str]
    """tool -> `ok`, `no_data` or `failed`; one that is missing was not called"""
    curves: Sequence[Curve]

    @property
    def judged(self) -> Curve | None:
        """The curve that the run is judged by; else an agent's return, a loss, or where its cause shows."""
        found = next((one for one in self.curves if one.summary.judged), None)
        found = found or next((one for one in self.curves if _RETURN.search(one.summary.name)), None)
        return found or next((one for one in self.curves if one.summary.loss), None) or self._cited

    @property
    def _cited(self) -> Curve | None:
        places = [piece.locator for cause in self.diagnosis.root_causes[:1] for piece in cause.evidence]
        goals = [one for one in self.curves if normalise(one.summary.original).kind not in {"rate", "norm", "time"}]
        return next((one for place in places for one in goals if f" of {one.summary.name}" in place), None)

    @property
    def logged(self) -> bool:
        """Whether a log tells how the run went."""
        return bool(self.context.artifacts.training_logs or self.context.series)

    def kinds_of(self, path: str) -> list[str]:
        """The kinds of artifacts that a file counts among."""
        return [kind for kind, paths in self._kinds().items() if path in paths]

    def has(self, kind: str) -> bool:
        """Whether the run left something of a kind."""
        return bool(self._kinds()[kind])

    def _kinds(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = self.context.artifacts.model_dump()
        return found

    def named(self, name: str) -> Curve | None:
        """`loss`, or the first series whose name holds the word."""
        if name == "loss":
            return self.judged
        found = [one for one in self.curves if name in one.summary.name]
        return min(found, key=lambda one: (one.summary.name != name, not one.summary.loss), default=None)

    def like(self, curve: Curve) -> Curve | None:
        """The series of this run that measures the same, counted in the same."""
        row = curve.summary
        same = [one for one in self.curves if one.summary.name == row.name]
        return next((one for one in same if one.summary.axis == row.axis), None)


def see(path: str | Path, message: str) -> Seen:
    """Diagnose a run without a model and keep what that was made of; raises `UsageError` for several runs."""
    return asyncio.run(_see(path, message))


async def _see(path: str | Path, message: str) -> Seen:
    choices: Choices = {"brain": "local"}
    with open_run(path, choices) as run:
        async with Session(run, choices) as session:
            context = await session.context()
            if len(context.runs) > 1:
                names = ", ".join(f"`{row.path}`" for row in context.runs[:4])
                raise UsageError(f"`{path}` holds {len(context.runs)} runs ({names}): give one of them")
            diagnosis = await session.diagnose(message)
            metrics = await asyncio.to_thread(session.run.toolbelt.call, METRICS, {"max_points": MOST_POINTS})
            specs = session.run.toolbelt.specs(schemas=False)
            uses = session.run.toolbelt.uses
            signals = list(session.signals)
    points = metrics.output.get("points", [])
    rows = [SeriesSummary.model_validate(row) for row in metrics.output.get("series", [])]
    finders: dict[str, list[str]] = {}
    for name, spec in specs.items():
        for signal in spec.emits:
            finders.setdefault(signal, []).append(name)
    return Seen(
        path=str(path),
        context=context,
        diagnosis=diagnosis,
        signals={signal.id: signal for signal in signals},
        finders=finders,
        status={use.tool: use.status for use in uses},
        curves=_joined(
            Curve(row, _numbers(one["at"]), _numbers(one["values"]), one["lines"], [row.source] * len(one["at"]))
            for row, one in zip(rows, points, strict=True)
        ),
    )


def _joined(curves: Iterable[Curve]) -> list[Curve]:
    """The curves, those that one job took up from another as one."""
    found: list[Curve] = []
    for curve in sorted(curves, key=lambda one: one.summary.start):
        row = curve.summary
        place = next(
            (
                index
                for index, held in enumerate(found)
                if (held.summary.name, held.summary.axis) == (row.name, row.axis) and held.summary.end < row.start
                if not row.duplicate_of
            ),
            None,
        )
        if place is None:
            found.append(curve)
        else:
            found[place] = found[place].followed_by(curve)
    return found


def _numbers(values: Sequence[float | str]) -> list[float]:
    """NaN and Inf come through JSON as strings."""
    return [float(value) for value in values]
