"""Failure modes for a person to read."""

from __future__ import annotations

import re
from collections.abc import Sequence

from traindx.catalog import FailureMode
from traindx.report.canvas import Canvas
from traindx.report.render import Page


def overview(modes: Sequence[FailureMode], page: Page) -> str:
    """Every failure mode in one line, by specialist."""
    canvas = Canvas(page)
    for specialist in sorted({mode.specialist for mode in modes}):
        canvas.heading(specialist)
        canvas.rows([(mode.id, mode.title) for mode in modes if mode.specialist == specialist], indent=2)
    canvas.gap()
    canvas.text("traindx explain ID shows one of them in full.", style="dim")
    return canvas.drawn()


def explanation(mode: FailureMode, page: Page) -> str:
    """One failure mode in full: its page, and the signals that speak for and against it."""
    canvas = Canvas(page)
    canvas.text(f"{mode.id}  [{mode.severity}, {mode.specialist}]", style="bold")
    canvas.text(mode.title[0].upper() + mode.title[1:])
    for heading, words in re.findall(r"^## (.+?)\s*$(.*?)(?=^## |\Z)", mode.body, re.MULTILINE | re.DOTALL):
        canvas.heading(heading)
        canvas.markdown(words.strip(), indent=2)
    for label, sign in (("Signals for it", 1), ("Signals against it", -1)):
        rows = [(name, row.weight) for name, row in mode.signals.items() if row.weight * sign > 0]
        if rows:
            canvas.heading(label)
            rows.sort(key=lambda row: -abs(row[1]))
            canvas.rows([(name, f"{weight:+.1f}{_kind(mode, name)}") for name, weight in rows], indent=2)
    return canvas.drawn()


def _kind(mode: FailureMode, signal: str) -> str:
    return " (direct)" if mode.signals[signal].kind == "direct" else ""
