"""A run inside what was given to look at: one of two that are compared."""

from __future__ import annotations

from pathlib import PurePosixPath

from traindx.readers.quoting import quote_of
from traindx.readers.run import Run
from traindx.runtime.scope import Scope


class RunInside:
    """A folder or file of a whole as a run of its own, with the way to it from the whole."""

    def __init__(self, whole: Run, name: str) -> None:
        real = whole.scope.resolve(name)
        scope = Scope(real) if real.is_dir() else Scope(real.parent, (real.name,))
        self.name = name
        self.run = Run(scope)
        self._way = PurePosixPath(scope.root.relative_to(whole.scope.root).as_posix())

    @property
    def files(self) -> set[str]:
        """The paths of its files."""
        return {file.path for file in self.run.files}

    @property
    def git_line(self) -> str:
        """The line in which the run names the state of its code; nothing where only git itself knows it."""
        state = next(iter(self.run.git), None)
        if state is None or state.source.startswith(".git"):
            return ""
        return quote_of("".join(self.run.lines(state.source, state.line, state.line)))

    def path(self, source: str) -> str:
        """A path of this run as the whole has it."""
        return str(self._way / source)
