"""The run's curve as a picture: losses, validation, what happened where, learning rate and gradient norm below."""

from typing import Literal

import numpy as np
from pydantic import Field

from traindx.contract import Value
from traindx.detectors.citing import cite, where
from traindx.detectors.curves.marks import Marking, best_point, marks, positions, with_company
from traindx.detectors.curves.objective import Objective, adversaries, measured, objective
from traindx.readers import Run, Series
from traindx.report.plot import Chart, Line, Mark, Panel, drawn
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """Which curve to draw, and as what."""

    series: str = Field(default="", description="a series name such as `train/loss`; the main curve when empty")
    format: Literal["svg", "png", "both"] = Field(default="svg", description="`svg`, `png` or `both`")


class Marked(Value):
    """Something marked in the picture."""

    what: str
    at: str
    claim: str
    source: str
    locator: str
    quote: str


class LossPicture(ToolOutput):
    """What the picture shows, and the picture itself."""

    title: str
    lines: list[str] = Field(description="every curve that is drawn, with its file")
    marks: list[Marked]
    pictures: dict[str, str] = Field(description="`svg` as text, `png` in base64")


@tool(needs=["series"], timeout=300.0)
def visualize_loss_curve(given: Input, run: Run) -> LossPicture:
    """Draw the loss (or reward) over the run with validation, best point, onset of a break, spikes, resumptions, and
    learning rate and gradient norm below, as SVG or PNG of 1000 by 700.
    """
    rows, goal = _drawn(given, run)
    first = rows[0]
    marked = [mark for mark in marks(rows, goal) if np.isfinite(mark.x)]
    chart = Chart(
        title=f"{' and '.join(row.name for row in rows[:2])} · {_name(run)}",
        subtitle=_subtitle(first, goal),
        axis=first.axis,
        main=Panel(
            "reward" if goal is not None and goal.rewarded else "loss",
            tuple(Line(row.name, positions(row, first), row.values, row.restarts) for row in rows),
            tuple(Mark(mark.kind, mark.label, mark.x, mark.y, mark.until, mark.downward) for mark in marked),
        ),
        below=tuple(_below(run, first)),
    )
    lines = [f"{row.name}: `{row.original}` in `{row.source}`, {len(row):,} points" for row in rows]
    said = [_said(mark) for mark in marked]
    return LossPicture(title=chart.title, lines=lines, marks=said, pictures=drawn(chart, given.format))


def _said(mark: Marking) -> Marked:
    row, index = mark.series, mark.index
    place = cite(row, index, f"{mark.label}: `{row.original}` is {row.values[index]:.4g}")
    return Marked(what=mark.kind, at=where(row, index), **place.model_dump())


def _drawn(given: Input, run: Run) -> tuple[list[Series], Objective | None]:
    """The series of the large panel, the one that is judged first, and its measure."""
    if given.series:
        named = [row for row in run.series if given.series in {row.name, row.original} and len(row)]
        if named:
            return [max(named, key=len)], measured(max(named, key=len))
    elif (goal := run.once(objective)) is not None:
        return with_company(goal, run.series), goal
    elif (pair := adversaries(run.series)) is not None:
        return list(pair), None
    known = ", ".join(sorted({row.name for row in run.series})) or "none at all"
    raise NoData(f"no {f'`{given.series}`' if given.series else 'loss'} series to draw; series found: {known}")


def _below(run: Run, first: Series) -> list[Panel]:
    found = []
    for name, title in (("lr", "learning rate"), ("grad_norm", "gradient norm")):
        rows = [row for row in run.series if row.name == name and len(row) > 1 and np.isfinite(row.values).any()]
        row = max(rows, key=lambda row: (row.source == first.source, row.axis == first.axis, len(row)), default=None)
        if row is not None:
            found.append(Panel(title, (Line(row.original, positions(row, first), row.values, row.restarts),)))
    return found


def _name(run: Run) -> str:
    root = run.scope.root
    return f"{root.parent.name}/{root.name}" if root.name in {"run", "logs", "log", "output"} else run.scope.name


def _subtitle(first: Series, goal: Objective | None) -> str:
    text = f"{first.source} · {len(first):,} point{'s' * (len(first) > 1)}"
    text += f" (one in {first.thinned}, extremes kept)" if first.thinned > 1 else ""
    if goal is None or not np.isfinite(goal.shape.best):
        return text
    found = best_point(first, goal.rewarded)
    best = f", {found[2].removesuffix(' of')} {found[1]:.4g}" if found is not None else ""
    return f"{text} · starts at {first.values[0]:.4g}{best}, ends at {first.values[-1]:.4g}"
