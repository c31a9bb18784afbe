"""Saying where on a curve something is, and citing it."""

from __future__ import annotations

import numpy as np

from traindx.contract import Citation
from traindx.readers import Run, Series

LONGEST_QUOTE = 240


def where(series: Series, index: int) -> str:
    """`epoch 7`, `step 24590`, `row 12`."""
    return f"{series.axis} {series.at[index]:.10g}"


def cite(run: Run, series: Series, index: int, claim: str) -> Citation:
    """The line of the file that point `index` was read from."""
    line, source = int(series.lines[index]), series.source_at(index)
    if series.place == "record":
        # A binary file has no lines to open: the point is found again by its position, and compared by its value.
        quote = series.texts[index] if series.texts else f"{series.values[index]:.9g}"
        locator = f"{where(series, index)} of {series.name}, record {line}"
        return Citation(claim=claim, source=source, locator=locator, quote=quote)
    text = run.lines(source, line, line)
    quote = text[0].strip() if text else ""
    if len(quote) > LONGEST_QUOTE and series.texts:
        quote = series.texts[index]
    return Citation(
        claim=claim,
        source=source,
        locator=f"line {line}, {where(series, index)}",
        quote=quote[:LONGEST_QUOTE],
    )


def quoted(run: Run, path: str, line: int) -> str:
    """A line of a file as a citation quotes it."""
    return "".join(run.lines(path, line, line)).strip()[:LONGEST_QUOTE]


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
