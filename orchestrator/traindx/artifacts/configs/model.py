"""What a reader of configurations gives, and how it says that it cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from traindx.contract import Fact

Found = Iterator[tuple[str, Fact, int]]
"""key, value and line of each setting"""
Remark = Callable[[str], None]
Reader = Callable[[str, Remark], Found]

MOST = 5_000
"""settings of one file"""


class Unreadable(ValueError):
    """A configuration file that cannot be read, with the reason."""
