"""A tool's result for a person to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from traindx.report.canvas import Canvas
from traindx.report.render import Page
from traindx.toolbelt import ToolResult

LONGEST_LIST = 6


def as_text(result: ToolResult, page: Page) -> str:
    """The output field by field: text as it is, records as a table of rows, then the findings."""
    canvas = Canvas(page)
    if result.status == "no_data":
        canvas.text(f"No data: {result.reason}")
        return canvas.drawn()
    for name, value in result.output.items():
        if name != "signals" and value not in (None, [], {}, "") and not _is_data(value):
            _field(canvas, name, value)
    if result.signals:
        canvas.heading("Findings")
        canvas.rows([(signal.id, signal.claim) for signal in result.signals], indent=2)
    return canvas.drawn()


def _field(canvas: Canvas, name: str, value: object) -> None:
    label = name.replace("_", " ")
    if isinstance(value, str) and "\n" in value:
        canvas.verbatim(value, style="")
    elif isinstance(value, Mapping):
        canvas.heading(label)
        canvas.rows([(str(key), str(item)) for key, item in value.items()], indent=2)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        canvas.heading(label)
        canvas.rows([_record(row) if isinstance(row, Mapping) else ("-", str(row)) for row in value], indent=2)
    else:
        canvas.rows([(label, str(value))])


def _is_data(value: object) -> bool:
    """Whether a field holds columns of numbers: those are for programs, in the JSON."""
    rows = value if isinstance(value, list) else []
    return any(isinstance(cell, list) and len(cell) > LONGEST_LIST for row in rows for cell in _cells(row))


def _cells(row: object) -> list[object]:
    return list(row.values()) if isinstance(row, Mapping) else []


def _record(row: Mapping[str, object]) -> tuple[str, str]:
    """The first field as the label, the others beside it; what is empty is left out."""
    shown = [
        (key, _brief(value)) for key, value in row.items() if value not in (None, "", [], {}) and value is not False
    ]
    label = shown[0][1] if shown else ""
    return label, ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in shown[1:])


def _brief(value: object) -> str:
    if isinstance(value, list) and len(value) > LONGEST_LIST:
        return f"[{len(value)} values]"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
