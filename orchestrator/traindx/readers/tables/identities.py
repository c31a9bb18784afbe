"""The names that files give to their rows, in order: a column of ids in a table, an array of them beside the inputs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, cast

from traindx.readers.checkpoints.archive import opened
from traindx.readers.tables.arrays import ArrayInfo
from traindx.readers.tables.datatables import TableInfo, split_cells
from traindx.readers.tables.samples import UNSOUND

if TYPE_CHECKING:
    from traindx.readers.run import Run

MOST_ROWS = 200_000
MOST_BYTES = 32 << 20
_ID = re.compile(
    r"^(?:id|ids|idx|index|key|keys|name|names|uid|uuid|guid|file|files|filename|filenames|path|paths|image|clip|record"
    r"|recording|sample|subject|.*_(?:id|ids|key|name|file|path)|(?:id|file|sample|image)_.*)$"
)


@dataclass(frozen=True)
class Identities:
    """The names of a file's rows; `others` are the columns beside them."""

    path: str
    column: str
    names: tuple[str, ...]
    member: str = ""
    others: tuple[str, ...] = ()


def read_identities(run: Run) -> list[Identities]:
    """Every column and array of names that tell rows apart."""
    found: list[Identities] = []
    for table in run.tables:
        if PurePosixPath(table.path).suffix.lower() in {".csv", ".tsv"} and table.whole and table.rows <= MOST_ROWS:
            found += _in_table(run, table)
    for array in run.arrays:
        if len(array.shape) == 1 and 1 < array.shape[0] <= MOST_ROWS and _names_rows(array):
            found += _in_array(run, array)
    return found


def _names_rows(array: ArrayInfo) -> bool:
    worded = array.dtype.lstrip("<>|=").startswith(("U", "S", "str"))
    counted = array.dtype.startswith(("int", "uint")) and not array.values
    return worded or (counted and _ID.match(array.member.lower()) is not None)


def _in_table(run: Run, table: TableInfo) -> list[Identities]:
    names = [column.name for column in table.columns]
    place = next((at for at, name in enumerate(names) if _ID.match(name.lower().strip())), None)
    if place is None or table.columns[place].values:
        return []
    with run.scope.open(table.path) as handle:
        lines = handle.read(MOST_BYTES).decode("utf-8", "replace").splitlines()
    separator = max("\t;,|", key=lines[0][:4_000].count) if lines else ","
    cells = [split_cells(line, separator) for line in lines[1:] if line.strip()]
    own = tuple(row[place].strip() for row in cells if len(row) > place)
    others = tuple(name for name in names if name != names[place])
    return [Identities(table.path, names[place], own, others=others)] if len(set(own)) == len(own) else []


def _in_array(run: Run, array: ArrayInfo) -> list[Identities]:
    import numpy as np

    try:
        with run.scope.open(array.path) as handle:
            archive = opened(handle) if array.member else None
            if array.member and archive is None:
                return []
            if archive is None:
                values = np.lib.format.read_array(handle, allow_pickle=False)
            else:
                with archive, archive.open(f"{array.member}.npy") as inner:
                    values = np.lib.format.read_array(cast("BinaryIO", inner), allow_pickle=False)
    except UNSOUND:
        return []  # what is wrong with the file was remarked when it was read
    own = tuple(one.decode(errors="replace") if isinstance(one, bytes) else str(one) for one in values.tolist())
    column = array.member or PurePosixPath(array.path).stem
    return [Identities(array.path, column, own, array.member)] if len(set(own)) == len(own) else []
