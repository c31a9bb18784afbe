"""Failure modes for a person to read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from traindx.diagnosis.catalog import FailureMode, Speaks
from traindx.diagnosis.scoring import UNTRIED
from traindx.diagnosis.templates import FixTemplate
from traindx.diagnosis.weights import Weights, load_weights
from traindx.report.canvas import Canvas
from traindx.report.render import Page
from traindx.runtime import ToolResult


def overview(
    modes: Sequence[FailureMode],
    page: Page,
    templates: Iterable[FixTemplate] = (),
    references: Iterable[str] = (),
) -> str:
    """Every failure mode in one line, by specialist; then the fixes and the texts to read."""
    canvas = Canvas(page)
    for specialist in sorted({mode.specialist for mode in modes}):
        canvas.heading(specialist)
        canvas.rows([(mode.id, mode.title) for mode in modes if mode.specialist == specialist], indent=2)
    if rows := [(one.name, one.title) for one in templates]:
        canvas.heading("fix templates")
        canvas.rows(rows, indent=2)
    if texts := list(references):
        canvas.heading("references")
        canvas.rows([(name, name.replace("-", " ")) for name in texts], indent=2)
    canvas.gap()
    canvas.text("traindx explain ID shows one of them in full.", style="dim")
    canvas.text("traindx explain FIX PATH fills in a fix with the names and values of a run.", style="dim")
    return canvas.drawn()


def explanation(mode: FailureMode, page: Page) -> str:
    """One failure mode in full: its page, and the signals that speak for and against it."""
    canvas = Canvas(page)
    canvas.text(f"{mode.id}  [{mode.severity}, {mode.specialist}]", style="bold")
    canvas.text(mode.title[0].upper() + mode.title[1:])
    for heading, words in re.findall(r"^## (.+?)\s*$(.*?)(?=^## |\Z)", mode.body, re.MULTILINE | re.DOTALL):
        canvas.heading(heading)
        canvas.markdown(words.strip(), indent=2)
    weights = load_weights()
    for label, wanted in (("Signals for it", 1), ("Signals against it", -1)):
        rows = [
            (weights.of(mode, name, speaks, sign), name, speaks)
            for name, speaks, sign in mode.weighed()
            if sign == wanted
        ]
        if rows:
            canvas.heading(label)
            rows.sort(key=lambda row: (-abs(row[0]), row[1]))
            canvas.rows([(name, _counts(weight, speaks)) for weight, name, speaks in rows], indent=2)
    canvas.heading("How sure it can be")
    canvas.text(_tried(mode, weights), indent=2)
    return canvas.drawn()


def prose(title: str, text: str, page: Page) -> str:
    """A text with headings, under its title."""
    canvas = Canvas(page)
    if title:
        canvas.text(title, style="bold")
    canvas.markdown(text)
    return canvas.drawn()


def _counts(weight: float, speaks: Speaks) -> str:
    return f"{weight:+.1f} ({speaks.tier}{', direct' if speaks.kind == 'direct' else ''})"


def _tried(mode: FailureMode, weights: Weights) -> str:
    count = weights.cases.get(mode.id, 0)
    if count:
        return f"Weights are fitted on labeled runs; {count} of them {'shows' if count == 1 else 'show'} this failure."
    return (
        "No labeled run shows this failure yet, so its signals count by their tiers alone and its confidence stays at"
        f" {UNTRIED:.1f} or below, unless the evidence is decisive and direct."
    )


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
    if isinstance(value, list):
        return "; ".join(map(_brief, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
