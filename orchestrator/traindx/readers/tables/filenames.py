"""Tables that list a file and its label in each row, as texts; read in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from traindx.readers.tables.datatables import TableInfo, split_cells
from traindx.vocabulary.data_names import is_label

if TYPE_CHECKING:
    from traindx.readers.run import Run

MOST_ROWS = 20_000
MOST_BYTES = 16 << 20
MOST_CLASSES = 100


@dataclass(frozen=True)
class Listed:
    """The files that a table lists, with the label of each."""

    path: str
    column: str
    label: str
    names: tuple[str, ...]
    labels: tuple[str, ...]
    lines: tuple[int, ...]


def read_listed(run: Run) -> list[Listed]:
    """Every table with a column of labels that are words, beside a column of texts that are all but unique."""
    found = []
    for table in run.tables:
        if PurePosixPath(table.path).suffix.lower() in {".csv", ".tsv"}:
            found += _read(run, table)
    return found


def _read(run: Run, table: TableInfo) -> list[Listed]:
    worded = [place for place, column in enumerate(table.columns) if column.texts > 0.9 * table.rows]
    labels = [
        place
        for place in worded
        if is_label(table.columns[place].name) and 2 <= len(table.columns[place].values) <= MOST_CLASSES
    ]
    names = [place for place in worded if not table.columns[place].values]
    if len(labels) != 1 or not names:
        return []
    with run.scope.open(table.path) as handle:
        lines = handle.read(MOST_BYTES).decode("utf-8", "replace").splitlines()[: MOST_ROWS + 1]
    separator = max("\t;,|", key=lines[0][:4_000].count) if lines else ","
    width = len(table.columns)
    rows = [(number, split_cells(line, separator)) for number, line in enumerate(lines[1:], 2)]
    kept = [(number, [cell.strip() for cell in cells]) for number, cells in rows if len(cells) == width]
    return [
        Listed(
            table.path,
            table.columns[place].name,
            table.columns[labels[0]].name,
            tuple(cells[place] for _, cells in kept),
            tuple(cells[labels[0]] for _, cells in kept),
            tuple(number for number, _ in kept),
        )
        for place in names[:4]
    ]
