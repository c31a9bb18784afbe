"""A closer look at the rows of a Parquet file: stretches of numbers, and a fingerprint of every row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, BinaryIO

from traindx.readers.coverage import Timer
from traindx.readers.tables.datatables import TableInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]

_ROWS = 16_384
_INDEX = "__index_level_"
"""how pandas keeps the numbers of rows, which differ in every file"""


def read_rows(
    handle: BinaryIO, table: TableInfo, counts: Callable[[str], bool], timer: Timer
) -> Iterator[tuple[int, list[int], int, Numbers]]:
    """Rows from the first on, some thousand at a time: the number of the first, the fingerprints, the bytes that they
    take, and the numbers by column; `counts` tells of a column whether it only numbers the rows.
    """
    import numpy as np
    import pyarrow.parquet
    import pyarrow.types

    file = pyarrow.parquet.ParquetFile(handle)
    measured = {column.name for column in table.columns}
    names = [field.name for field in file.schema_arrow if not field.name.startswith(_INDEX)]
    first = 0
    for batch in file.iter_batches(batch_size=_ROWS, columns=names):
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        numbers = {
            name: columns[name].to_numpy(zero_copy_only=False).astype(np.float64)
            for name in columns
            if name[:100] in measured
        }
        own = [values for name, values in numbers.items() if not counts(name[:100])]
        texts = [columns[name].to_pylist() for name in columns if name not in numbers]
        prints, width = _prints(own, texts, batch.num_rows)
        wanted = [numbers.get(column.name, np.full(batch.num_rows, np.nan)) for column in table.columns]
        yield first, prints, width, np.stack(wanted, axis=1)
        first += batch.num_rows
        if timer.spent():
            return


def _prints(numbers: Sequence[Numbers], texts: Sequence[Sequence[object]], rows: int) -> tuple[list[int], int]:
    """A number for each row by what it says, and how many bytes the rows take together."""
    import numpy as np

    block = np.ascontiguousarray(np.stack(numbers, axis=1)) if numbers else np.zeros((rows, 0))
    said = [" ".join(map(str, cells)) for cells in zip(*texts, strict=True)] if texts else [""] * rows
    size = block.shape[1] * block.itemsize
    raw = block.tobytes()
    prints = [hash((raw[row * size : (row + 1) * size], text)) for row, text in enumerate(said)]
    return prints, size * rows + sum(map(len, said))
