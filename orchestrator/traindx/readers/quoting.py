"""Filling in what stands at the places that a tool cites: detectors name file and line, the text is read once here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from traindx.contract import Citation, Fact, Signal, Value
from traindx.errors import UnreadableInput

if TYPE_CHECKING:
    from traindx.readers.run import Run

LONGEST_QUOTE = 240
MOST_LINES = 20
"""lines that one citation may quote"""
_LINES = re.compile(r"lines (\d{1,12})-(\d{1,12})")
_LINE = re.compile(r"line (\d{1,12})(?:,|$)")
_NUMBER = re.compile(r"[-+]?(?:\.?\d|nan|inf)\S{0,40}", re.IGNORECASE)
_IN_NOTEBOOK = re.compile(r"(?P<path>[^\s`'\"(]{1,400}\.ipynb):(?P<line>\d{1,9})\b")
_CITATION = {"source", "locator", "quote"}
Filled = TypeVar("Filled", bound=Value)


def is_provisional(quote: str) -> bool:
    """Whether a quote waits for its line: it is empty, or the bare number that a line too long to quote is known by."""
    return not quote or _NUMBER.fullmatch(quote.strip()) is not None


def quote_of(line: str, provisional: str = "") -> str:
    """A line as a citation quotes it; of one that is too long only the number at issue, or its beginning."""
    text = line.strip()
    return (provisional if provisional and len(text) > LONGEST_QUOTE else text)[:LONGEST_QUOTE]


def fill_quotes(output: Filled, run: Run) -> Filled:
    """The same output, with the text of every cited line; quotes that are complete already stay as they are."""
    return _Filler(run).filled(output)


class _Filler:
    """Fills one output; a line that is cited twice is read once."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._lines: dict[tuple[str, int], str | None] = {}

    def filled(self, value: Filled) -> Filled:
        """A value with the quotes in it and below it."""
        changes: dict[str, object] = {}
        for name in type(value).model_fields:
            inner = getattr(value, name)
            if isinstance(inner, Value):
                changes[name] = self.filled(inner)
            elif isinstance(inner, list) and inner and isinstance(inner[0], Value):
                changes[name] = [self.filled(row) if isinstance(row, Value) else row for row in inner]
        if type(value).model_fields.keys() >= _CITATION:
            changes |= self._cited(value.source, value.locator, value.quote)  # type: ignore[attr-defined]
        if isinstance(value, Signal):
            changes["facts"] = {key: self._named(fact) for key, fact in value.facts.items()}
        if isinstance(value, Signal | Citation):
            changes["claim"] = self._named(value.claim)
        return value.model_copy(update=changes) if changes else value

    def _cited(self, source: str, locator: str, given: str) -> dict[str, object]:
        """The quote, where the line is still to be read; the cell and its line, where the file is a notebook."""
        place = _LINE.match(locator)
        cell = self._run.cell_at_line(source, int(place[1]), given) if place else None
        if cell is not None and place is not None:
            told = quote_of(cell.text, given) if is_provisional(given) else given
            return {"locator": cell.locator + locator[place.end(1) :], "quote": told}
        quote = self._quote(source, locator, given)
        return {} if quote is None else {"quote": quote}

    def _named(self, text: Fact) -> Fact:
        """A text that names a line of a notebook, with the cell instead."""
        if not isinstance(text, str) or ".ipynb:" not in text:
            return text
        return _IN_NOTEBOOK.sub(self._in_notebook, text)

    def _in_notebook(self, named: re.Match[str]) -> str:
        cell = self._run.cell_at_line(named["path"], int(named["line"]))
        return named[0] if cell is None else f"{named['path']}, {cell.locator}"

    def _quote(self, source: str, locator: str, given: str) -> str | None:
        stretch = _LINES.fullmatch(locator)
        if stretch is not None and not given:
            return self._stretch(source, int(stretch[1]), int(stretch[2]))
        place = _LINE.match(locator)
        if place is None or not is_provisional(given):
            return None
        line = self._line(source, int(place[1]))
        return None if line is None else quote_of(line, given)

    def _stretch(self, source: str, first: int, last: int) -> str | None:
        try:
            rows = self._run.lines(source, first, min(last, first + MOST_LINES))
        except UnreadableInput:
            return None
        return "\n".join(row.rstrip()[:LONGEST_QUOTE] for row in rows).rstrip() or None

    def _line(self, source: str, number: int) -> str | None:
        if (source, number) not in self._lines:
            try:
                self._lines[source, number] = "".join(self._run.lines(source, number, number))
            except UnreadableInput:  # a citation that leads nowhere: verification says so
                self._lines[source, number] = None
        return self._lines[source, number]
