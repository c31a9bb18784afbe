"""What a pickle would build, written down instead of built."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(eq=False)
class Global:
    """A Python name that a pickle asks for."""

    name: str


@dataclass(eq=False)
class Table:
    """A dict, of any class; `state` is what was set on it beside its items."""

    items: list[tuple[object, object]] = field(default_factory=list)
    state: object = None
    rows: Row | None = None
    """pairs that were given as a list, as Python 2 writes an OrderedDict; shared, never copied"""

    def pairs(self) -> Iterator[tuple[object, object]]:
        """Every key with its value."""
        for row in self.rows.items if self.rows is not None else ():
            if isinstance(row, Row) and len(row.items) == 2:
                yield row.items[0], row.items[1]
        yield from self.items


@dataclass(eq=False)
class Row:
    """A list, tuple or set."""

    items: list[object] = field(default_factory=list)


@dataclass(eq=False)
class Blob:
    """Bytes or very long text that were passed over; `start` holds short ones."""

    size: int
    start: bytes = b""


@dataclass(eq=False)
class Storage:
    """The memory of tensors: a record of the archive."""

    dtype: str
    key: str
    elements: int


@dataclass(eq=False)
class Tensor:
    """A tensor or array; its numbers were never looked at."""

    shape: tuple[int, ...]
    dtype: str
    storage: Storage | None = None
    trainable: bool | None = None
    offset: int = 0
    """elements of the storage before its first"""
    strides: tuple[int, ...] | None = None
    """None where it lies row after row"""


@dataclass(eq=False)
class Made:
    """What some other callable would return: its name, its arguments and the state set on it."""

    name: str
    arguments: Row
    state: object = None
    items: Table = field(default_factory=Table)
