"""The metrics a run wrote, as one table."""

import numpy as np
from pydantic import Field

from traindx.contract import SeriesSummary, Value
from traindx.detectors.curves.series import summarise
from traindx.readers import Run, Series
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """Which metrics, and how much of them."""

    name: str = Field(default="", description="only series whose name contains this, e.g. `loss`; all when empty")
    max_points: int = Field(default=500, ge=0, le=100_000, description="points of each series, thinned evenly; 0: none")


class Points(Value):
    """A series, thinned evenly when it is longer than was asked for."""

    name: str
    source: str
    at: list[float]
    values: list[float]
    lines: list[int]


class Metrics(ToolOutput):
    """One row per series; the points only on request."""

    series: list[SeriesSummary]
    points: list[Points] = Field(default_factory=list)
    remarks: list[str] = Field(default_factory=list)


@tool(needs=["series"])
def extract_training_metrics(given: Input, run: Run) -> Metrics:
    """List every metric the run logged (loss, accuracy, learning rate, gradient norm, ...) with its range and its file.

    Start here: it shows which curves exist, how many points they have, and where each begins, ends and is lowest.
    """
    chosen = [row for row in run.series if given.name.casefold() in row.name.casefold() and len(row)]
    if not chosen:
        looked = ", ".join(file.path for file in run.files if file.role in {"log", "metrics"}) or "no log or table"
        wanted = f"named like `{given.name}` " if given.name else ""
        raise NoData(f"no metric {wanted}was found; looked in: {looked}")
    return Metrics(
        series=[summarise(row) for row in chosen],
        points=[_points(row, given.max_points) for row in chosen] if given.max_points else [],
        remarks=run.remarks,
    )


def _points(row: Series, most: int) -> Points:
    keep = np.unique(np.linspace(0, len(row) - 1, min(most, len(row))).astype(int))
    return Points(
        name=row.name,
        source=row.source,
        at=row.at[keep].tolist(),
        values=row.values[keep].tolist(),
        lines=row.lines[keep].tolist(),
    )
