"""Places in a notebook as people name them: `cell 7, line 3`, and for what a cell printed `cell 7, output line 12`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from traindx.readers.code.notebooks import Notebook

CELL = re.compile(
    r"cell (?P<cell>\d{1,6})(?: \(In \[\d{1,9}\]\))?, "
    r"(?P<output>output )?lines? (?P<line>\d{1,9})\b(?:-(?P<last>\d{1,9}))?"
)
_RUN_AS = re.compile(r"In\[(\d{1,9})\]")


class CellText(NamedTuple):
    """One line of a cell or of what it printed, and the line of the .ipynb file that holds it."""

    locator: str
    text: str
    file_line: int


class Cells:
    """The lines of a notebook, found by their place in the file or by their locator."""

    def __init__(self, notebook: Notebook) -> None:
        self._rows = list(_lines(notebook))

    def at_file_line(self, line: int, quote: str = "") -> CellText | None:
        """The line of a cell that stands in a line of the file, and that holds the quote where several do."""
        here = [row for row in self._rows if row.file_line == line]
        wanted = " ".join(quote.split())
        exact = [row for row in here if wanted and wanted in " ".join(row.text.split())]
        if exact:
            return exact[0]
        return here[0] if len(here) == 1 else None

    def at_locator(self, locator: str) -> tuple[CellText | None, list[str]]:
        """The line of a cell that a locator names, and the text of the lines around it."""
        asked = CELL.search(locator)
        for at, row in enumerate(self._rows):
            if asked is not None and _same(CELL.match(row.locator), asked):
                last = at + int(asked["last"] or asked["line"]) - int(asked["line"])
                whole = [part for part in self._rows[at : last + 1] if part.locator.startswith(_cell_of(row.locator))]
                text = "\n".join(part.text for part in whole)
                return row._replace(text=text), [near.text for near in self._rows[max(0, at - 2) : last + 3]]
        return None, []


def _cell_of(locator: str) -> str:
    return locator.partition(",")[0] + ","


def _same(one: re.Match[str] | None, other: re.Match[str]) -> bool:
    return one is not None and all(one[part] == other[part] for part in ("cell", "output", "line"))


def _lines(notebook: Notebook) -> Iterator[CellText]:
    """Every line of the notebook: the code of its cells, then what they printed."""
    names = _names(notebook)
    code = notebook.code.split("\n")
    for text, place in zip(code, notebook.places, strict=False):
        yield CellText(f"{names[place.cell]}, line {place.line}", text, place.file_line)
    printed: dict[int, int] = {}
    for output in notebook.outputs:
        for text, file_line in zip(output.text.split("\n"), output.lines, strict=False):
            printed[output.cell] = printed.get(output.cell, 0) + 1
            name = names.get(output.cell, f"cell {output.cell}")
            yield CellText(f"{name}, output line {printed[output.cell]}", text, file_line)


def locator_of(notebook: Notebook, line: int) -> str:
    """Where a line of the notebook's code stands."""
    place = notebook.places[line - 1]
    return f"{_names(notebook)[place.cell]}, line {place.line}"


def frame_line(notebook: Notebook, printed: str, line: int) -> int | None:
    """The line of the notebook's code that a frame names by the number under which its cell ran: `In[7]`, line 3."""
    ran = _RUN_AS.fullmatch(printed)
    if ran is None:
        return None
    # A cell that ran again has a new number; the last one that had this number is meant.
    cells = [cell for cell, count in zip(_cells(notebook), notebook.counts, strict=False) if count == int(ran[1])]
    for at, place in enumerate(notebook.places, 1):
        if cells and place.cell == cells[-1] and place.line == line:
            return at
    return None


def _cells(notebook: Notebook) -> list[int]:
    return list(dict.fromkeys(place.cell for place in notebook.places))


def _names(notebook: Notebook) -> dict[int, str]:
    """`cell 7`, with the number that Jupyter shows beside it where that is another one."""
    return {
        cell: f"cell {cell}" + (f" (In [{count}])" if count is not None and count != cell else "")
        for cell, count in zip(_cells(notebook), notebook.counts, strict=False)
    }
