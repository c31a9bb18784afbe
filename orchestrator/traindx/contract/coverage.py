"""How much of a run was read, as values and in one line."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from traindx.contract.value import Value

_SIZES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


class CoverageRow(Value):
    """How much of one kind of thing was read."""

    what: str = Field(description="`logs`, `data tables`, `code files`, …")
    read: int
    of: int = Field(description="all that there is; estimated where reading stopped before the end was known")
    unit: str = Field(description="what is counted: `files`, `bytes`, `rows`, `values` or `runs`")
    whole: bool = Field(description="whether nothing was left out")


def coverage_text(rows: Sequence[CoverageRow]) -> str:
    """`3 logs (1.0 GB), 400 of 3,000 code files`: all of it, or how much of how much."""
    kinds: dict[str, list[CoverageRow]] = {}
    for row in rows:
        kinds.setdefault(row.what, []).append(row)
    return ", ".join(_kind(what, found) for what, found in kinds.items())


def _kind(what: str, rows: Sequence[CoverageRow]) -> str:
    files = next((row for row in rows if row.unit == "files"), None)
    others = [row for row in rows if row is not files]
    inside = ", ".join(_amount(row) for row in others)
    if files is None:
        return f"{inside} of {what}"
    count = f"{files.of:,}" if files.whole else f"{files.read:,} of {files.of:,}"
    named = what.removesuffix("s") if files.whole and files.of == 1 else what
    return f"{count} {named}" + (f" ({inside})" if inside else "")


def _amount(row: CoverageRow) -> str:
    if row.unit == "bytes":
        return _size(row.of) if row.whole else f"{_size(row.read)} of {_size(row.of)}"
    return f"{row.of:,} {row.unit}" if row.whole else f"{row.read:,} of {row.of:,} {row.unit}"


def _size(count: int) -> str:
    for size, unit in _SIZES:
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"
