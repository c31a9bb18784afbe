"""The run's curve as a picture: losses, validation, what happened where, learning rate and gradient norm below."""

import base64
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from traindx.contract import Value
from traindx.detectors.citing import cite, where
from traindx.detectors.curves.loss import is_loss, validation_of
from traindx.detectors.curves.objective import Objective, adversaries, measured, objective, words_of
from traindx.detectors.curves.shape import shape_of
from traindx.readers import Run, Series
from traindx.report.plot import Chart, Line, Mark, Panel, png, svg
from traindx.runtime import NoData, ToolInput, ToolOutput, tool

Numbers = npt.NDArray[np.float64]
MOST_LINES = 4
MOST_SPIKES = 5
MOST_SEAMS = 6
# Beyond this many points single values say little: levels over windows are meant.
CROWDED = 300
LEVELS = 100
RARE = 0.002
_PARTS = {"kl", "kld", "rec", "recon", "reconstruction", "nll", "elbo", "mse", "ce", "bce", "aux", "d", "g"}
_NOT_PARTS = {"best", "min", "max", "ema", "avg", "smooth", "smoothed", "std", "scale", "weight"}


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
    marks: list[Mark] = []
    said: list[Marked] = []
    for mark, row, index in [*_marks(rows, goal), *_seams(first)]:
        if not np.isfinite(mark.x):
            continue
        claim = f"{mark.label}: `{row.original}` is {row.values[index]:.4g}"
        marks.append(mark)
        place = cite(run, row, index, claim)
        said.append(Marked(what=mark.kind, at=where(row, index), **place.model_dump()))
    chart = Chart(
        title=f"{' and '.join(row.name for row in rows[:2])} · {_name(run)}",
        subtitle=_subtitle(first, goal),
        axis=first.axis,
        main=Panel("reward" if goal is not None and goal.rewarded else "loss", _lines(rows, first), tuple(marks)),
        below=tuple(_below(run, first)),
    )
    pictures: dict[str, str] = {}
    if given.format != "png":
        pictures["svg"] = svg(chart)
    if given.format != "svg":
        pictures["png"] = base64.b64encode(png(chart)).decode("ascii")
    lines = [f"{row.name}: `{row.original}` in `{row.source}`, {len(row):,} points" for row in rows]
    return LossPicture(title=chart.title, lines=lines, marks=said, pictures=pictures)


def _drawn(given: Input, run: Run) -> tuple[list[Series], Objective | None]:
    """The series of the large panel, the one that is judged first, and its measure."""
    if given.series:
        named = [row for row in run.series if given.series in {row.name, row.original} and len(row)]
        if named:
            return [max(named, key=len)], measured(max(named, key=len))
    elif (goal := objective(run)) is not None:
        return _with_company(goal, run), goal
    elif (pair := adversaries(run.series)) is not None:
        return list(pair), None
    known = ", ".join(sorted({row.name for row in run.series})) or "none at all"
    raise NoData(f"no {f'`{given.series}`' if given.series else 'loss'} series to draw; series found: {known}")


def _with_company(goal: Objective, run: Run) -> list[Series]:
    loss = goal.series
    if goal.rewarded:
        return [loss]
    seen_on = None if loss.phase in {"val", "test"} else validation_of(loss, run.series)
    parts = [
        row
        for row in run.series
        if row.source == loss.source and row.phase in {"train", ""} and row is not loss and not row.duplicate_of
        and row.axis == loss.axis and 2 * len(row) > len(loss) and not words_of(row) & _NOT_PARTS
        and (is_loss(row.name) or words_of(row) & _PARTS) and np.isfinite(row.values).any()
    ]  # fmt: skip
    return [loss, *([seen_on] if seen_on is not None else []), *parts][:MOST_LINES]


def _marks(rows: list[Series], goal: Objective | None) -> list[tuple[Mark, Series, int]]:
    if goal is None:
        return []
    loss, shape = goal.series, goal.shape
    found: list[tuple[Mark, Series, int]] = []
    judged = next((row for row in rows[1:] if row.phase in {"val", "test"} and len(row) > 2), loss)
    best = _best(judged, goal.rewarded)
    if best is not None:
        index, value, what = best
        label = f"{what} {judged.name} {value:.4g} at {where(judged, index)}"
        found.append((Mark("best", label, float(_along(judged, loss)[index]), value), judged, index))
    if shape.onset is not None and (shape.first_non_finite is None or shape.onset < shape.first_non_finite):
        label = f"{goal.rose} for good from {where(loss, shape.onset)}"
        found.append((Mark("onset", label, float(loss.at[shape.onset])), loss, shape.onset))
    if shape.first_non_finite is not None:
        found.append((_lost(loss, shape.first_non_finite), loss, shape.first_non_finite))
    for top in _spikes(goal):
        what, value = "dip to" if goal.rewarded else "spike to", float(loss.values[top])
        label = f"{what} {value:.4g} at {where(loss, top)}, recovered"
        found.append((Mark("spike", label, float(loss.at[top]), value, downward=goal.rewarded), loss, top))
    return found


def _best(row: Series, rewarded: bool) -> tuple[int, float, str] | None:
    """Where a series is best, how good that is, and what to call it; of very many points the best level counts."""
    costs = -row.values if rewarded else row.values
    finite = np.where(np.isfinite(costs), costs, np.inf)
    if len(row) < 3 or not np.isfinite(finite).any():
        return None
    if int(np.count_nonzero(np.isfinite(costs))) > CROWDED:
        shape = shape_of(costs)
        return shape.best_index, -shape.best if rewarded else shape.best, "best level of"
    at = int(np.argmin(finite))
    return at, float(row.values[at]), "best"


def _lost(loss: Series, first: int) -> Mark:
    after = np.flatnonzero(np.isfinite(loss.values[first:]))
    what = "NaN" if np.isnan(loss.values[first]) else "Inf"
    if len(after):
        lost = int(np.count_nonzero(~np.isfinite(loss.values)))
        share = f", {lost:,} of {len(loss):,} values lost" if lost > 1 else ""
        return Mark("lost", f"{what} at {where(loss, first)}{share}", float(loss.at[first]))
    return Mark("lost", f"{what} from {where(loss, first)} on", float(loss.at[first]), until=float(np.max(loss.at)))


def _spikes(goal: Objective) -> list[int]:
    """Excursions that came back, the highest of each neighbourhood: of the level, and of single points far above it."""
    end = goal.shape.broke
    costs = goal.costs[:end]
    reach = max(2, len(costs) // 25)
    shape = shape_of(costs)
    tops = [] if shape.peak_index is None else [shape.peak_index]
    if len(costs) > CROWDED and np.isfinite(costs).all():
        edges = np.linspace(0, len(costs), LEVELS + 1).astype(int)
        parts = list(pairwise(edges.tolist()))
        level = np.repeat([np.median(costs[first:last]) for first, last in parts], np.diff(edges))
        above = costs - level
        # Twelve times the scatter: once in many billions of points by chance.
        far = np.flatnonzero(above > max(12 * 1.4826 * float(np.median(np.abs(above))), 0.25 * shape.improvement))
        far = far[far >= edges[2]]
        # Where many points stand out, that is how the curve scatters.
        if len(far) <= max(MOST_SPIKES, RARE * len(costs)):
            tops += far[np.argsort(-above[far], kind="stable")].tolist()
    found: list[int] = []
    for top in tops:
        # What stands right before the break is its beginning, not something that was over.
        over = end is None or len(costs) - top > reach
        if over and len(found) < MOST_SPIKES and all(abs(top - other) > reach for other in found):
            found.append(top)
    return sorted(found)


def _seams(loss: Series) -> list[tuple[Mark, Series, int]]:
    return [
        (Mark("seam", f"goes on at {where(loss, index)}", float(loss.at[index])), loss, index)
        for index in loss.restarts[:MOST_SEAMS]
    ]


def _lines(rows: list[Series], first: Series) -> tuple[Line, ...]:
    return tuple(Line(row.name, _along(row, first), row.values, row.restarts) for row in rows)


def _below(run: Run, first: Series) -> list[Panel]:
    found = []
    for name, title in (("lr", "learning rate"), ("grad_norm", "gradient norm")):
        rows = [row for row in run.series if row.name == name and len(row) > 1 and np.isfinite(row.values).any()]
        row = max(rows, key=lambda row: (row.source == first.source, row.axis == first.axis, len(row)), default=None)
        if row is not None:
            found.append(Panel(title, (Line(row.original, _along(row, first), row.values, row.restarts),)))
    return found


def _along(row: Series, first: Series) -> Numbers:
    """The positions of a series on the axis of the first one: as logged, else by the order of lines, else spread."""
    if row.axis == first.axis:
        return row.at
    told = {"step": row.steps, "epoch": row.epochs}.get(first.axis)
    if told is not None and np.isfinite(told).all():
        return told
    if row.source == first.source and row.place == first.place == "line" and not first.restarts:
        placed: Numbers = np.interp(row.lines, first.lines, first.at)
        return placed
    low, high = float(np.min(first.at)), float(np.max(first.at))
    span = float(np.max(row.at) - np.min(row.at)) or 1.0
    # An evaluation comes at the end of its epoch: the last one where the first series ends.
    step = (high - low) / max(len(row), 1)
    spread: Numbers = low + step + (row.at - np.min(row.at)) / span * (high - low - step)
    return spread


def _name(run: Run) -> str:
    root = run.scope.root
    return f"{root.parent.name}/{root.name}" if root.name in {"run", "logs", "log", "output"} else run.scope.name


def _subtitle(first: Series, goal: Objective | None) -> str:
    text = f"{first.source} · {len(first):,} point{'s' * (len(first) > 1)}"
    text += f" (one in {first.thinned}, extremes kept)" if first.thinned > 1 else ""
    if goal is None or not np.isfinite(goal.shape.best):
        return text
    shape = goal.shape
    levels = [goal.shown(level) for level in (shape.start, shape.best, shape.end)]
    return f"{text} · starts at {levels[0]:.4g}, best level {levels[1]:.4g}, ends at {levels[2]:.4g}"
