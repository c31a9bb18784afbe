"""SQLite files of trackers, opened so that nothing is written and no query runs for ever."""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import BinaryIO

_LARGEST_IN_MEMORY = 64 << 20
_SECONDS = 20.0
"""time for all queries of a file: a view or an index made for it can run without end"""
_STEPS_BETWEEN_LOOKS = 20_000
# Two bytes of the header say that changes may lie in a second file; on a copy in memory they must say no.
_JOURNAL = slice(18, 20)


class Database:
    """The plain tables of a file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def columns(self, table: str) -> set[str]:
        """The names of a table's columns; none where there is no such table."""
        tables = self.rows("select name from sqlite_master where type = 'table' and name = ?", (table,))
        if not list(tables):
            return set()
        return {str(name) for (name,) in self.rows("select name from pragma_table_info(?)", (table,))}

    def rows(self, query: str, values: Sequence[object] = ()) -> Iterator[tuple[object, ...]]:
        """The rows of a query."""
        yield from self._connection.execute(query, tuple(values))


@contextmanager
def opened(handle: BinaryIO) -> Iterator[Database]:
    """The database behind an open file; raises `sqlite3.Error` where it is none."""
    with closing(_connection(handle)) as connection:
        deadline = time.monotonic() + _SECONDS
        connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS_BETWEEN_LOOKS)
        connection.execute("pragma trusted_schema = off")
        connection.execute("pragma query_only = on")
        connection.text_factory = lambda raw: raw.decode("utf-8", errors="replace")
        yield Database(connection)


def _connection(handle: BinaryIO) -> sqlite3.Connection:
    raw = handle.read(_LARGEST_IN_MEMORY + 1)
    if sys.version_info >= (3, 11) and len(raw) <= _LARGEST_IN_MEMORY:
        with ExitStack() as undone:
            connection = undone.enter_context(closing(sqlite3.connect(":memory:")))
            connection.deserialize(_without_journal(raw))
            undone.pop_all()
            return connection
    try:
        number = handle.fileno()
    except OSError:
        reason = "needs Python 3.11" if len(raw) <= _LARGEST_IN_MEMORY else "is too large to read in place"
        raise sqlite3.OperationalError(f"a database inside an archive {reason}; unpack the archive") from None
    folder = "/proc/self/fd" if Path("/proc/self/fd").exists() else "/dev/fd"
    return sqlite3.connect(f"file:{folder}/{number}?mode=ro&immutable=1", uri=True)


def _without_journal(raw: bytes) -> bytes:
    copy = bytearray(raw)
    if len(copy) >= _JOURNAL.stop:
        copy[_JOURNAL] = b"\x01\x01"
    return bytes(copy)
