"""A run as the tools see it: everything is read on first use and kept for the next tool."""

from __future__ import annotations

from functools import cached_property

from traindx.artifacts.model import CodeFile, RunFile, Series, Setting, Sighting
from traindx.artifacts.scope import Scope


class Run:
    """What a run left behind."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.remarks: list[str] = []

    @cached_property
    def files(self) -> list[RunFile]:
        """Every file worth knowing, by path."""
        return []

    @cached_property
    def series(self) -> list[Series]:
        """Every metric over time."""
        return []

    @cached_property
    def settings(self) -> list[Setting]:
        """Every configuration value."""
        return []

    @cached_property
    def sightings(self) -> list[Sighting]:
        """Errors and warnings in the order of the files, root before cascade within a file."""
        return []

    @cached_property
    def code(self) -> list[CodeFile]:
        """The Python files and what they contain."""
        return []
