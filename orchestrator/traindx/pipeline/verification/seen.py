"""A run as its diagnosis saw it: the signals, the tools that looked, the curves."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from traindx.contract import Citation, ContextPackage, Diagnosis, SeriesSummary, Signal
from traindx.errors import UsageError
from traindx.pipeline.inputs import open_run
from traindx.pipeline.options import Choices
from traindx.pipeline.session import Session

METRICS = "extract_training_metrics"
MOST_POINTS = 4_000


@dataclass(frozen=True)
class Curve:
    """A series with its points, as many as are needed to compare."""

    summary: SeriesSummary
    at: Sequence[float]
    values: Sequence[float]
    lines: Sequence[int]

    def cite(self, index: int, claim: str) -> Citation:
        """One of its points."""
        row = self.summary
        place = f"{row.axis} {self.at[index]:.10g}"
        value = f"{self.values[index]:.6g}"
        if row.source.rpartition(".")[2] in {"csv", "tsv", "jsonl", "log", "txt", "out", "json"} and self.lines[index]:
            place = f"line {self.lines[index]}, {place}"
        return Citation(claim=claim, source=row.source, locator=f"{place} of {row.name}", quote=value)


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
        """The curve that the run is judged by; else its first loss."""
        return next((one for one in self.curves if one.summary.judged), None) or next(
            (one for one in self.curves if one.summary.loss), None
        )

    @property
    def logged(self) -> bool:
        """Whether a log tells how the run went."""
        return bool(self.context.artifacts.training_logs or self.context.series)

    def named(self, name: str) -> Curve | None:
        """`loss`, or the first series whose name holds the word."""
        if name == "loss":
            return self.judged
        exact = [one for one in self.curves if one.summary.name == name]
        return next(iter(exact), None) or next((one for one in self.curves if name in one.summary.name), None)

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
            metrics = await asyncio.to_thread(
                session.run.toolbelt.call, METRICS, {"max_points": MOST_POINTS}
            )
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
        curves=[
            Curve(row, *(_numbers(one[key]) for key in ("at", "values")), one["lines"])  # type: ignore[arg-type]
            for row, one in zip(rows, points, strict=True)
        ],
    )


def _numbers(values: Sequence[float | str]) -> list[float]:
    """NaN and Inf come through JSON as strings."""
    return [float(value) for value in values]
