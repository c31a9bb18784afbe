"""Remarks: what was not found, not read or left out, in one sentence each."""

from __future__ import annotations

from collections.abc import Iterable


class Notable(str):
    """A remark that every report shows, because it changes what the reader does next; others wait for `-v`."""

    __slots__ = ()


def notable_of(remarks: Iterable[str]) -> list[str]:
    """Those that every report shows, each once, as plain text."""
    return [str(row) for row in dict.fromkeys(remarks) if isinstance(row, Notable)]
