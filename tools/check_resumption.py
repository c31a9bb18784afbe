"""Where the run was resumed, and what jumped there: loss, learning rate, step, optimizer state."""

import ast
import math

import numpy as np
import numpy.typing as npt

from traindx.contract import Citation, Fact, Signal, Value
from traindx.detectors.citing import cite, quoted, where
from traindx.detectors.curves.objective import objective
from traindx.readers import CodeUnit, Run, Series
from traindx.readers.code.syntax import name_of
from traindx.runtime import NoData, ToolInput, ToolOutput, tool

Numbers = npt.NDArray[np.float64]
# Points on each side of the seam: enough for a level, few enough to stay near it.
BESIDE = 8


class Input(ToolInput):
    """Nothing to choose: every seam that the log or the axis shows is looked at."""


class Seam(Value):
    """One resumption."""

    source: str
    line: int
    at: str
    loss_before: float
    loss_after: float
    rate_before: float | None
    rate_after: float | None


class SeamReport(ToolOutput):
    """Every resumption and the levels on both sides."""

    seams: list[Seam]


@tool(
    needs=["series"],
    emits={
        "resumed-with-a-jump": "loss or learning rate jump where the run was resumed",
        "resumed-smoothly": "the run was resumed and goes on where it was",
        "optimizer-not-restored": "the code restores the weights on resumption, and nothing else",
    },
)
def check_resumption(given: Input, run: Run) -> SeamReport:  # noqa: ARG001 - every tool takes its input
    """Find where the run was resumed (the log says so, or the step jumps back) and compare loss and learning rate on
    both sides; read whether the code restores the optimizer.
    """
    goal = objective(run)
    if goal is None:
        raise NoData("no loss to compare before and after a resumption")
    loss = goal.series
    seams = [(index, _seam(run, loss, index)) for index in loss.restarts if 2 <= index <= len(loss) - 2]
    if not seams:
        raise NoData("nothing in the log speaks of a resumption, and the step never jumps back")
    signals = [_judged(run, loss, index, seam) for index, seam in seams]
    return SeamReport(seams=[seam for _, seam in seams], signals=[*signals, *_restored(run)])


def _sides(values: Numbers, index: int) -> tuple[Numbers, Numbers]:
    """The losses next to the seam, NaN aside."""
    old, new = values[max(0, index - BESIDE) : index], values[index : index + BESIDE]
    return old[np.isfinite(old)], new[np.isfinite(new)]


def _seam(run: Run, loss: Series, index: int) -> Seam:
    old, new = _sides(loss.values, index)
    return Seam(
        source=loss.source_at(index),
        line=int(loss.lines[index]),
        at=where(loss, index),
        loss_before=float(np.median(old)) if len(old) else math.nan,
        loss_after=float(np.median(new)) if len(new) else math.nan,
        rate_before=_rate(run, loss, index - 1),
        rate_after=_rate(run, loss, index),
    )


def _rate(run: Run, loss: Series, index: int) -> float | None:
    """The learning rate logged at, or nearest to, a point of the loss."""
    source = loss.source_at(index)
    rate = next((row for row in run.series if row.name == "lr" and row.source == source and len(row) > 2), None)
    if rate is None:
        return None
    nearest = int(np.argmin(np.abs(rate.lines - int(loss.lines[index]))))
    return float(rate.values[nearest])


def _judged(run: Run, loss: Series, index: int, seam: Seam) -> Signal:
    old, new = _sides(loss.values, index)
    places = [
        cite(run, loss, index - 1, "the loss before the run was resumed"),
        cite(run, loss, index, "the loss after the run was resumed"),
    ]
    jumps = []
    if seam.rate_before and seam.rate_after and not 0.67 < seam.rate_after / seam.rate_before < 1.5:
        jumps.append(f"the learning rate goes from {seam.rate_before:.4g} to {seam.rate_after:.4g}")
    # On the seam a curve may wobble by its own scatter; a level that stands clear of it is a jump.
    scatter = float(np.max(old) - np.min(old)) if len(old) else math.inf
    jumped = seam.loss_after - seam.loss_before > max(1.5 * scatter, 0.1 * abs(seam.loss_before))
    if jumped or _broke_off(old, new):
        near = f"from {float(np.median(old[-3:])):.4g} to {float(np.median(new[:3])):.4g}"
        jumps.append(f"the loss goes {near}")
    facts: dict[str, Fact] = {
        "onset": seam.at,
        "change": places[1].quote,
        "change_place": f"{seam.source}:{seam.line}",
    }
    if jumps:
        claim = f"resumed at {seam.at}, and {' and '.join(jumps)}"
        strength = 1.0 if len(jumps) > 1 or len(new) < 2 or "loss" in jumps[0] else 0.8
        return Signal(id="resumed-with-a-jump", claim=claim, strength=strength, citations=places, facts=facts)
    claim = f"resumed at {seam.at}, and the loss goes on at {seam.loss_after:.4g} ({seam.loss_before:.4g} before)"
    return Signal(id="resumed-smoothly", claim=claim, citations=places, facts=facts)


def _broke_off(old: Numbers, new: Numbers) -> bool:
    """A curve on its way down that stands higher after the seam than its steps before could explain."""
    if len(old) < 4 or len(new) < 2:
        return False
    before, after = float(np.median(old[-3:])), float(np.median(new[:3]))
    return after - before > max(3 * float(np.max(np.abs(np.diff(old)))), 0.25 * abs(before))


def _restored(run: Run) -> list[Signal]:
    """Code that loads a state into the model and into nothing else."""
    for unit in run.code:
        loads = [node for node in ast.walk(unit.tree) if isinstance(node, ast.Call) and _is_load(node)]
        owners = [name_of(node.func.value).lower() for node in loads if isinstance(node.func, ast.Attribute)]
        others = ("opt", "sched", "scaler", "trainer", "engine")
        if loads and not any(word in owner for owner in owners for word in others):
            return [_weights_only(run, unit, loads[0])]
    return []


def _weights_only(run: Run, unit: CodeUnit, node: ast.Call) -> Signal:
    line = unit.file_line(node.lineno)
    quote = quoted(run, unit.path, line)
    claim = f"`{quote}` restores the weights; optimizer and schedule start anew"
    place = Citation(claim=claim, source=unit.path, locator=f"line {line}", quote=quote)
    facts: dict[str, Fact] = {"restore_place": f"{unit.path}:{line}"}
    return Signal(id="optimizer-not-restored", claim=claim, citations=[place], facts=facts)


def _is_load(node: ast.Call) -> bool:
    return name_of(node.func) == "load_state_dict"
