"""The events that `traindx.monitor` writes between its rows: where a number ceased to be one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from traindx.vocabulary.telemetry import AT, CLASS, EVENT, FOUND, FROM, NON_FINITE, is_monitor_file

if TYPE_CHECKING:
    from traindx.readers.run import Run

_MOST = 100
"""events of one file: a monitor writes a few"""
_LONGEST = 4_096
_MARK = f'"{EVENT}":"{NON_FINITE}"'.encode()


class Origin(NamedTuple):
    """What was the first to be no number, as a monitor saw it, and the line that says so."""

    source: str
    line: int
    text: str
    step: int
    where: str
    at: str
    kind: str
    found: str


def origins(run: Run) -> list[Origin]:
    """What the monitors of a run saw, in the order of the steps."""
    found: list[Origin] = []
    for file in run.files:
        if is_monitor_file(file.path):
            with run.texts.open(file.path) as handle:
                lines = ((number, line) for number, line in enumerate(handle, 1) if _MARK in line[:_LONGEST])
                found += [
                    one
                    for _, (number, line) in zip(range(_MOST), lines, strict=False)
                    if (one := parse_origin(file.path, number, line)) is not None
                ]
    return sorted(found, key=lambda one: one.step)


def parse_origin(source: str, number: int, line: bytes) -> Origin | None:
    """The event in a line; None where the line is damaged."""
    try:
        row = json.loads(line)
        told = [str(row[key])[:300] for key in (FROM, AT, CLASS, FOUND)]
        return Origin(source, number, line.decode("utf-8", "replace").strip(), int(row["step"]), *told)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
