"""What is known about memory: how it develops, what held it when it ran out, and what a model takes."""

import ast
from collections.abc import Iterator, Sequence

import numpy as np
from pydantic import Field

from traindx.contract import Signal, Value
from traindx.detectors.checkpoints.parameters import largest
from traindx.detectors.citing import where
from traindx.detectors.curves import memory
from traindx.detectors.curves.objective import objective
from traindx.detectors.errors import device_memory
from traindx.detectors.errors.device_memory import Circumstances
from traindx.detectors.settings.lookup import optimizer
from traindx.detectors.settings.memory_estimate import Estimate, estimate
from traindx.readers import LogError, Run, Series
from traindx.readers.checkpoints.snapshot import Snapshot, read_snapshot
from traindx.readers.logs.memory_text import Usage, read_usage, spelt
from traindx.runtime import NoData, ToolInput, ToolOutput, tool

MOST_LINES = 400_000
"""lines of one log in which tables of memory are looked for"""
AROUND = 400
"""lines before an out-of-memory message in which an allocator may print its table"""
LARGEST_SNAPSHOT = 1 << 30


class Input(ToolInput):
    """No options: every series, table, message and snapshot about memory is looked at."""


class MemoryCourse(Value):
    """One series of memory."""

    series: str
    source: str
    points: int
    start: float
    end: float
    highest: float
    unit: str = ""
    last_at: str
    growth: str = Field(default="", description="change per step (or epoch) of a straight line, with its error")


class Held(Value):
    """A snapshot: who holds what."""

    source: str
    reserved: str
    allocated: str
    largest: dict[str, str] = Field(description="the user's own lines that hold most")


class MemoryProfile(ToolOutput):
    """What was found about memory."""

    courses: list[MemoryCourse] = Field(description="the longest first")
    out_of_memory: str = Field(default="", description="what held the memory when it ran out")
    change_first: str = ""
    estimate: dict[str, str] = Field(default_factory=dict, description="weights, gradients, optimizer; what is assumed")
    snapshots: list[Held] = Field(default_factory=list)


@tool(needs=["series", "errors", "files"], emits={**memory.SIGNALS, **device_memory.SIGNALS})
def profile_memory(given: Input, run: Run) -> MemoryProfile:  # noqa: ARG001 - every tool takes its input
    """Look at everything about memory: series and tables in logs (nvidia-smi, torch's summaries) with their growth per
    step, out-of-memory messages with what held the memory, memory snapshots, and an estimate for this model.
    """
    rows = [*memory.memory_series(run.series), *memory.memory_series(_tabled(run))]
    failed = device_memory.messages(run.errors)
    snapshots = _snapshots(run)
    if not rows and not failed and not snapshots:
        raise NoData("no series measures memory; log `torch.cuda.memory_allocated()` or the process's resident size")
    growth = memory.detect(rows)
    static = _estimate(run)
    signals = [*growth, *(_explained(run, failed[0], static, growth) if failed else [])]
    held = next((signal for signal in signals if signal.id == "memory-held-by"), None)
    return MemoryProfile(
        courses=[_course(row) for row in rows],
        out_of_memory=str(held.facts["memory_held"]) if held else "",
        change_first=str(held.facts["memory_fix"]) if held else "",
        estimate=_told(static) if static is not None else {},
        snapshots=[_held(one) for one in snapshots],
        signals=signals,
    )


def _course(row: Series) -> MemoryCourse:
    return MemoryCourse(
        series=row.original,
        source=row.source,
        points=len(row),
        start=float(row.values[0]),
        end=float(row.values[-1]),
        highest=float(max(row.values)),
        unit=row.unit,
        last_at=where(row, len(row) - 1),
        growth=memory.pace(row),
    )


def _tabled(run: Run) -> list[Series]:
    """Tables of nvidia-smi and torch in the logs, as series."""
    found: list[Series] = []
    for file in run.files:
        if file.role == "log":
            usages: dict[str, list[Usage]] = {}
            for usage in read_usage(_lines(run, file.path)):
                usages.setdefault(usage.what, []).append(usage)
            found += [_series(file.path, what, rows) for what, rows in usages.items() if len(rows) >= memory.FEWEST]
    return found


def _series(path: str, what: str, rows: Sequence[Usage]) -> Series:
    values = np.array([row.used / (1 << 20) for row in rows], dtype=np.float64)
    at = np.arange(1, len(rows) + 1, dtype=np.float64)
    lines = np.array([row.line for row in rows], dtype=np.int64)
    return Series("memory", f"memory of {what}", path, "row", at, values, lines, unit="MiB")


def _lines(run: Run, path: str) -> Iterator[tuple[int, str]]:
    with run.scope.open(path) as handle:
        for number, raw in enumerate(handle, 1):
            if number > MOST_LINES:
                return
            if raw == b"\n":
                continue
            if b"MiB" in raw or b"GiB" in raw or b"gpu" in raw or raw[:1].isspace() or raw[:1].isdigit():
                yield number, raw[:400].decode("utf-8", "replace").rstrip("\n")


def _explained(run: Run, row: LogError, static: Estimate | None, growth: Sequence[Signal]) -> list[Signal]:
    goal = run.once(objective)
    before = int((goal.series.lines < row.line).sum()) if goal is not None and goal.series.source == row.source else 0
    known = Circumstances(
        points_before=before if goal is None or goal.series.source == row.source else len(goal.series),
        functions=tuple(_functions(run, row)),
        grows=any(signal.id == "memory-grows" for signal in growth),
        static=static.static if static is not None else 0,
    )
    around = "" if row.source.endswith(".ipynb") else "\n".join(run.lines(row.source, row.line - AROUND, row.line + 20))
    return device_memory.detect(row, around, known)


def _functions(run: Run, row: LogError) -> Iterator[str]:
    """The functions of the run's own code that stand in a traceback."""
    units = {unit.path.rpartition("/")[2]: unit for unit in run.code}
    for printed, line in row.frames:
        unit = units.get(printed.replace("\\", "/").rpartition("/")[2])
        for node in ast.walk(unit.tree) if unit is not None else ():
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.lineno <= line <= (
                node.end_lineno or 0
            ):
                yield node.name


def _estimate(run: Run) -> Estimate | None:
    row = largest(run.checkpoints)
    if row is None:
        return None
    name = next(iter(row.optimizers.values()), "") or optimizer(run.settings, run.program, run.series)
    return estimate(row.parameters, row.parameters, name or "", run.settings)


def _told(one: Estimate) -> dict[str, str]:
    return {
        "parameters": f"{one.parameters:,}",
        "weights": spelt(one.weights),
        "gradients": spelt(one.gradients),
        "optimizer": spelt(one.optimizer),
        "assumed": one.assumed,
        **({"batch": str(one.batch)} if one.batch is not None else {}),
    }


def _snapshots(run: Run) -> list[Snapshot]:
    found = []
    for file in run.files:
        name = file.path.rpartition("/")[2].lower()
        if "snapshot" in name and name.endswith((".pickle", ".pkl")) and file.size <= LARGEST_SNAPSHOT:
            with run.scope.open(file.path) as handle:
                found.append(read_snapshot(handle, file.path))
    return [one for one in found if one is not None]


def _held(one: Snapshot) -> Held:
    places = {place: spelt(size) for place, size in one.places.items()}
    return Held(source=one.path, reserved=spelt(one.reserved), allocated=spelt(one.allocated), largest=places)
