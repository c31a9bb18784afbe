"""Plain stretches of large tables through Apache Arrow's parser, where pyarrow is installed: on every core."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from traindx.artifacts.tables.cells import Rows

if TYPE_CHECKING:
    from traindx.artifacts.logs.digits import Floats, Places
    from traindx.artifacts.tables.record import ManyCells

_PIECE = 1 << 20
"""bytes that one core takes at a time"""


def parser() -> Parser | None:
    """Arrow's parser; None where pyarrow is not installed."""
    try:
        import pyarrow
        import pyarrow.csv
    except ImportError:
        return None
    return Parser(pyarrow)


class Parser:
    """Reads blocks in which every row is whole and every cell is a plain number or empty."""

    def __init__(self, pyarrow: Any) -> None:
        self._arrow = pyarrow

    def columns(self, data: bytes, separator: str, header: list[str]) -> list[ManyCells] | None:
        """The named columns of a block of whole lines without quotes; None for a block that is not so plain."""
        # Arrow reads `nan(ind)` as a number, `float` does not; an empty line is a row to Arrow.
        if b"(" in data or b"\n\n" in data or data.startswith(b"\n"):
            return None
        arrow, names = self._arrow, [str(place) for place in range(len(header))]
        wanted = [str(place) for place, name in enumerate(header) if name]
        try:
            table = arrow.csv.read_csv(
                arrow.BufferReader(data),
                read_options=arrow.csv.ReadOptions(column_names=names, block_size=_PIECE),
                parse_options=arrow.csv.ParseOptions(
                    delimiter=separator, quote_char=False, ignore_empty_lines=False, newlines_in_values=False
                ),
                convert_options=arrow.csv.ConvertOptions(
                    column_types=dict.fromkeys(wanted, arrow.float64()),
                    include_columns=wanted,
                    null_values=[""],
                    check_utf8=False,
                ),
                # Arrow's own pools reserve address space by the gigabyte, which a limit on it forbids.
                memory_pool=arrow.system_memory_pool(),
            )
        except arrow.ArrowInvalid:
            return None
        spelling = _Spelling(data, separator, len(header))
        return [self._cells(table.column(name), header[int(name)], spelling.of(int(name))) for name in wanted]

    def _cells(self, column: Any, name: str, spell: Callable[[Places], bytes]) -> ManyCells:
        values: Floats = column.to_numpy()
        return name, values, column.is_valid().to_numpy() if column.null_count else None, spell


@dataclass(frozen=True)
class _Spelling:
    """How the cells of a block are spelt; they are looked up only when someone asks."""

    data: bytes
    separator: str
    width: int

    @cached_property
    def _rows(self) -> Rows:
        return Rows(self.data, self.separator, self.width)

    def of(self, column: int) -> Callable[[Places], bytes]:
        """The spelling of chosen rows of a column."""

        def spelled(chosen: Places) -> bytes:
            starts, ends = self._rows.span(column)
            return self._rows.spelled(starts.take(chosen), ends.take(chosen))

        return spelled
