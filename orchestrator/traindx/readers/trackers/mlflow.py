"""MLflow: the files of a run in an `mlruns` folder, each for itself, and the SQLite store."""

from __future__ import annotations

import math
import re
from array import array
from dataclasses import replace
from typing import BinaryIO

from traindx.readers.configs.settings import scalar
from traindx.readers.logs.lines import blocks, numbered
from traindx.readers.model import Setting
from traindx.readers.series.columns import Column
from traindx.readers.trackers.database import Database
from traindx.readers.trackers.points import Found, Points
from traindx.vocabulary.metrics import normalise

# In milliseconds; a value; a step, which the first versions did not write; newer ones add names of data sets.
METRIC_LINE = re.compile(rb"\d{9,14} [-+]?(?:\d|nan|inf|\.\d)\S{0,40}(?: -?\d{1,20})?(?: [^\n]{0,400})?\r?(?:\n|$)")
_STATUS = {"1": "RUNNING", "2": "SCHEDULED", "3": "FINISHED", "4": "FAILED", "5": "KILLED"}
_STATUS_LINE = re.compile(r"^status: '?(\w{1,12})'?\s*$", re.MULTILINE)
_LARGEST_VALUE = 16 << 10
_LARGEST_METRIC = 1 << 30
_INFINITE = 1.7976931348623157e308
"""the database has no infinity: the largest double stands for it"""


def name_under(path: str, folder: str) -> str:
    """`…/metrics/train/loss` under `metrics` as `train/loss`; empty for a path without that folder."""
    parts = path.split("/")
    return "/".join(parts[parts.index(folder) + 1 :]) if folder in parts else ""


def read_metric(handle: BinaryIO, source: str) -> Found:
    """One metric file: `timestamp value step` on each line."""
    import numpy as np

    name = name_under(source, "metrics") or source.rpartition("/")[2]
    column, odd = Column(name, normalise(name)), 0
    walls = array("d")
    for number, line in numbered(handle, _LARGEST_METRIC):
        cells = line.split()
        try:
            column.add(float(cells[1]), cells[1], number, None, float(cells[2]) if len(cells) > 2 else None)
            walls.append(_seconds(cells[0]))
        except (IndexError, ValueError):
            odd += bool(cells)
    remarks = [f"{odd:,} of its lines are not metrics"] if odd else []
    if not len(walls):
        return Found([], [], [*remarks, "it has no values"])
    series = column.series(source, column.metric.name)
    return Found([replace(series, clock=np.frombuffer(walls, dtype=np.float64))], [], remarks)


def read_parameter(handle: BinaryIO, source: str) -> Found:
    """One parameter file: its name is the key, its content the value."""
    return Found([], [Setting(name_under(source, "params"), scalar(_content(handle)), source, 1)], [])


def read_tag(handle: BinaryIO, source: str) -> Found:
    """One tag file; of MLflow's own tags the commit and the script say something about the run."""
    key = name_under(source, "tags").removeprefix("mlflow.source.")
    return Found([], [Setting(key, _content(handle), source, 1)] if key in {"git.commit", "name"} else [], [])


def read_run(handle: BinaryIO, source: str) -> Found:
    """The `meta.yaml` of a run: how it ended."""
    text = _content(handle)
    said = _STATUS_LINE.search(text)
    status = _STATUS.get(said[1], said[1]) if said else "unknown"
    line = text.count("\n", 0, said.start()) + 1 if said else 1
    remarks = [_ending(status)] if status != "FINISHED" else []
    if "lifecycle_stage: deleted" in text:
        remarks.append("the run was deleted in MLflow")
    return Found([], [Setting("mlflow.status", status, source, line)], remarks)


def read_database(database: Database, source: str) -> Found:
    """One run of an MLflow database: the one that failed if only one did, else the one that began last."""
    columns = {"run_uuid", "name", "status", "start_time", "lifecycle_stage"} & database.columns("runs")
    name = "name" if "name" in columns else "run_uuid"
    active = "where lifecycle_stage = 'active'" if "lifecycle_stage" in columns else ""
    runs = list(
        database.rows(f"select run_uuid, {name}, status from runs {active} order by start_time desc limit 10000")  # noqa: S608 (column names of our own)
    )
    if not runs:
        return Found([], [], ["it has no runs"])
    failed = [run for run in runs if run[2] == "FAILED"]
    run, title, status = failed[0] if len(failed) == 1 else runs[0]
    points = _database_points(database, run)
    settings = [Setting("mlflow.status", str(status), source, 1)]
    for row, key, value in database.rows("select rowid, key, value from params where run_uuid = ? limit 5000", (run,)):
        settings.append(Setting(str(key), scalar(str(value)[:_LARGEST_VALUE]), source, int(str(row))))
    remarks = [_ending(str(status))] if status != "FINISHED" else []
    if len(runs) > 1:
        remarks.append(f"it holds {len(runs):,} runs; `{title}` ({status}) was read")
    return Found(points.series(source), settings, remarks + ([points.overflow] if points.overflow else []))


def quote_row(database: Database, number: int) -> str:
    """One row of the metrics in words."""
    rows = database.rows("select key, value, step from metrics where rowid = ?", (number,))
    return next((f"step {step}: {key} {value}" for key, value, step in rows), "")


def _database_points(database: Database, run: object) -> Points:
    points = Points()
    has = database.columns("metrics")
    nan, step = "is_nan" if "is_nan" in has else "0", "step" if "step" in has else "0"
    query = f"select rowid, key, value, {step}, {nan}, timestamp from metrics where run_uuid = ? order by rowid"  # noqa: S608 (column names of our own)
    for row, key, value, at, is_nan, time in database.rows(query, (run,)):
        if isinstance(value, (int, float)) and isinstance(at, (int, float)):
            number = math.nan if is_nan else float(value)
            if abs(number) >= _INFINITE:
                number = math.copysign(math.inf, number)
            wall = time / 1000 if isinstance(time, (int, float)) else math.nan
            points.one(str(key), int(str(row)), float(at), number, wall)
    return points


def _seconds(milliseconds: str) -> float:
    try:
        return float(milliseconds) / 1000
    except ValueError:
        return math.nan


def _ending(status: str) -> str:
    return f"MLflow lists the run as {status}" + (
        ": it is still running, or it was killed before it could update its status" if status == "RUNNING" else ""
    )


def _content(handle: BinaryIO) -> str:
    return "".join(text for _, text in blocks(handle, _LARGEST_VALUE)).strip("\n")
