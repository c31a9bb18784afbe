"""A recorded investigation, turn by turn."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from traindx.pipeline.transcript import Record
from traindx.report.canvas import Canvas
from traindx.report.render import Page

LONGEST = 400


def as_text(record: Record, page: Page) -> str:
    """Who said what, who asked which tool, and what it answered."""
    canvas = Canvas(page)
    asked = record.request
    if asked:
        canvas.text(f"{', '.join(asked.get('paths', []))}: {asked.get('message') or '(no message)'}", style="bold")
    for entry in record.entries:
        if entry["kind"] == "turn":
            _turn(canvas, entry)
        elif entry["kind"] == "tool":
            result = entry["result"]
            said = result.get("reason") or json.dumps(result.get("output", {}), ensure_ascii=False)
            canvas.rows([(f"{entry['who']} asked", entry["asked"]), (result["status"], _brief(said))], indent=2)
    if record.diagnosis is None:
        canvas.heading("Interrupted")
        canvas.text(f"Go on with: traindx diagnose PATH --resume-case {record.path}")
    canvas.gap()
    return canvas.drawn()


def _turn(canvas: Canvas, entry: Mapping[str, Any]) -> None:
    usage = entry.get("usage", {})
    canvas.heading(f"{entry['who']} ({entry.get('model', '')}, {sum(usage.values())} tokens, {entry['stop_reason']})")
    for block in entry["blocks"]:
        if block["type"] in {"text", "thinking"}:
            canvas.text(_brief(block.get("text") or block.get("thinking", "")), indent=2)
        elif block["type"] == "tool_use":
            canvas.text(f"-> {block['name']} {_brief(json.dumps(block['input'], ensure_ascii=False))}", indent=2)


def _brief(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
