"""Saying where something is, and citing it. The text of a cited line is filled in after the tool has returned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from traindx.contract import Citation
from traindx.readers.model import Series, Setting
from traindx.readers.quoting import is_provisional

if TYPE_CHECKING:
    from traindx.readers.code.codeunit import CodeUnit


def where(series: Series, index: int) -> str:
    """`epoch 7`, `step 24590`, `row 12`; `epoch 1.522` where epochs are logged in fractions."""
    return f"{series.axis} {position_text(series, index)}"


def position_text(series: Series, index: int) -> str:
    """A place on the axis as a person writes it, as long as it stays apart from the points beside it."""
    at = float(series.at[index])
    if at == round(at):
        return f"{at:.10g}"
    beside = [float(series.at[place]) for place in (index - 1, index + 1) if 0 <= place < len(series)]
    for digits in (4, 5, 6, 8):
        text = f"{at:.{digits}g}"
        if all(abs(other - at) > 4 * abs(float(text) - at) for other in beside if other != at):
            return text
    return f"{at:.10g}"


def cite(series: Series, index: int, claim: str) -> Citation:
    """The place that point `index` was read from; the quote is its number, until the line is known."""
    line, source = int(series.lines[index]), series.source_at(index)
    printed = series.texts[index] if series.texts else ""
    if series.place == "record":
        # A binary file has no lines to open: the point is found again by its position, and compared by its value.
        locator = f"{series.axis} {series.at[index]:.10g} of {series.name}, record {line}"
        return Citation(
            claim=claim,
            source=source,
            locator=locator,
            quote=printed if series.texts else f"{series.values[index]:.9g}",
        )
    return Citation(
        claim=claim,
        source=source,
        locator=f"line {line}, {where(series, index)}",
        quote=printed if is_provisional(printed) else "",
    )


def cite_setting(setting: Setting, claim: str) -> Citation:
    """The line that sets a value."""
    return cite_line(setting.source, setting.line, claim)


def cite_line(path: str, line: int, claim: str, quote: str = "") -> Citation:
    """A line of a file; with its text where that is at hand."""
    return Citation(claim=claim, source=path, locator=f"line {line}", quote=quote)


def cite_code(unit: CodeUnit, line: int, claim: str) -> Citation:
    """A line of a program, counted within its code, with its text."""
    return cite_line(unit.path, unit.file_line(line), claim, unit.quote(line))


def moment(series: Series, other: Series, index: int) -> int:
    """The point of a series that was logged when point `index` of another was, or next to it."""
    if series.axis == other.axis:
        return nearest_index(series, float(other.at[index]))
    if series.source == other.source_at(index):
        return int(np.argmin(np.abs(series.lines - int(other.lines[index]))))
    return min(len(series) - 1, len(series) * index // len(other))


def nearest_index(series: Series, position: float) -> int:
    """The point of a series nearest to a position on its axis."""
    return int(np.argmin(np.abs(series.at - position)))
