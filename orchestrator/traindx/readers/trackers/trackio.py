"""Trackio: the SQLite file of a project, one JSON object per step."""

from __future__ import annotations

import json
import math

from traindx.readers.configs.settings import MOST, dotted, flat
from traindx.readers.model import Setting
from traindx.readers.trackers.database import Database
from traindx.readers.trackers.points import Found, Points

_WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_LONGEST_TEXT = 500


def read_database(database: Database, source: str) -> Found:
    """The run that was begun last."""
    runs = [name for (name,) in database.rows("select run_name from metrics group by run_name order by max(id) desc")]
    if not runs:
        return Found([], [], ["it has no runs"])
    points, odd = Points(), 0
    query = "select id, step, metrics from metrics where run_name = ? order by id"
    for row, step, metrics in database.rows(query, (runs[0],)):
        values = _object(metrics)
        if values is None or not isinstance(row, int) or not isinstance(step, int):
            odd += 1
            continue
        for path, value in flat(values):
            number = _WORDS.get(value) if isinstance(value, str) else float(value) if abs(value) < 1e308 else None
            if number is not None and not any(isinstance(key, int) for key in path):
                points.one("/".join(map(str, path)), row, float(step), number)
    remarks = [f"{odd:,} of its rows are not metrics"] if odd else []
    if len(runs) > 1:
        remarks.append(f"it holds {len(runs):,} runs; `{runs[0]}`, the last one, was read")
    if points.overflow:
        remarks.append(points.overflow)
    return Found(points.series(source), _settings(database, runs[0], source), remarks)


def quote_row(database: Database, number: int) -> str:
    """One row of the metrics in words."""
    for step, metrics in database.rows("select step, metrics from metrics where id = ?", (number,)):
        said = [f"{'/'.join(map(str, path))} {value}" for path, value in flat(_object(metrics) or {})]
        return f"step {step}: {', '.join(said)}"
    return ""


def _settings(database: Database, run: object, source: str) -> list[Setting]:
    found: list[Setting] = []
    if not {"id", "run_name", "config"} <= database.columns("configs"):
        return found
    for row, config in database.rows("select id, config from configs where run_name = ? order by id", (run,)):
        for path, value in flat(_object(config) or {}):
            key = dotted(path)
            if not key.startswith("_") and len(found) < MOST and isinstance(row, int):
                bounded = value[:_LONGEST_TEXT] if isinstance(value, str) else value
                found.append(Setting(key, bounded, source, row))
    return found


def _object(text: object) -> dict[str, object] | None:
    if not isinstance(text, (str, bytes)):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
