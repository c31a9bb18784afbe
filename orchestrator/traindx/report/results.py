"""A tool's result for a person to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from traindx.report.canvas import Canvas
from traindx.report.render import Page
from traindx.toolbelt import ToolResult


def as_text(result: ToolResult, page: Page) -> str:
    """The output field by field: text as it is, records as a table of rows, then the findings."""
    canvas = Canvas(page)
    if result.status == "no_data":
        canvas.text(f"No data: {result.reason}")
        return canvas.drawn()
    for name, value in result.output.items():
        if name != "signals" and value not in (None, [], {}, ""):
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
        for row in value:
            canvas.text(_record(row) if isinstance(row, Mapping) else str(row), indent=2)
    else:
        canvas.rows([(label, str(value))])


def _record(row: Mapping[str, object]) -> str:
    shown = {key: value for key, value in row.items() if value not in (None, "", [], {})}
    return "  ".join(
        f"{key}={value:.6g}" if isinstance(value, float) else f"{key}={value}" for key, value in shown.items()
    )
