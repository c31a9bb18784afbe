"""Sacred: `metrics.json` with steps beside values, and `run.json` with the end of the run."""

from __future__ import annotations

from collections import defaultdict
from typing import BinaryIO

from traindx.readers.logs.lines import blocks
from traindx.readers.model import Series, Setting
from traindx.readers.series.columns import Column
from traindx.readers.tables.jsontext import Leaf, NotJson, leaves
from traindx.readers.trackers.points import Found, final_names
from traindx.vocabulary.metrics import normalise

LARGEST = 32 << 20
_ENDINGS = {"FAILED", "INTERRUPTED", "TIMEOUT", "DIED"}
_TELLING = {"status", "command", "result"}


def read_metrics(handle: BinaryIO, source: str) -> Found:
    """Every metric: the lists of its steps and of its values."""
    lists: dict[str, dict[str, list[Leaf]]] = defaultdict(lambda: defaultdict(list))
    remarks: list[str] = []
    try:
        for leaf in leaves(_content(handle)):
            if len(leaf.path) == 3 and isinstance(leaf.path[2], int):
                lists[str(leaf.path[0])][str(leaf.path[1])].append(leaf)
    except NotJson as error:
        remarks.append(str(error))
    names = final_names({name: normalise(name) for name in lists})
    series = [_series(names[name], name, source, parts) for name, parts in lists.items()]
    return Found([one for one in series if len(one)], [], remarks)


def _series(name: str, original: str, source: str, parts: dict[str, list[Leaf]]) -> Series:
    column = Column(original, normalise(original))
    values, steps = parts.get("values", []), parts.get("steps", [])
    for place, leaf in enumerate(values):
        step = steps[place].value if place < len(steps) else None
        if isinstance(leaf.value, (int, float)):
            at = float(step) if isinstance(step, (int, float)) else None
            column.add(float(leaf.value), leaf.text, leaf.line, None, at)
    return column.series(source, name)


def read_run(handle: BinaryIO, source: str) -> Found:
    """How the run ended, and the last line of its traceback."""
    settings: list[Setting] = []
    remarks: list[str] = []
    trace = ""
    try:
        for leaf in leaves(_content(handle)):
            key = str(leaf.path[0]) if leaf.path else ""
            if key in _TELLING and len(leaf.path) == 1:
                settings.append(Setting(f"sacred.{key}", leaf.value, source, leaf.line))
                if key == "status" and leaf.value in _ENDINGS:
                    remarks.append(f"Sacred lists the run as {leaf.value}")
            elif key == "fail_trace" and str(leaf.value).strip():
                trace = str(leaf.value).strip()
    except NotJson as error:
        remarks.append(str(error))
    if trace:
        remarks.append(f"its traceback ends with `{trace.splitlines()[-1][:300]}`")
    return Found([], settings, remarks)


def _content(handle: BinaryIO) -> str:
    return "".join(text for _, text in blocks(handle, LARGEST))
