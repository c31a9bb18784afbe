"""The project's own `.traindx/` folder: its profile, its agents, its tools."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traindx.contract import ProjectProfile

FOLDER = ".traindx"


@dataclass(frozen=True)
class Project:
    """A folder that carries `.traindx/`, or none."""

    home: Path | None = None

    @classmethod
    def around(cls, path: Path) -> Project:
        """The nearest project at or above `path`, else at or above the working folder."""
        for start in _starts(path):
            for folder in (start, *start.parents):
                home = folder / FOLDER
                if os.path.isdir(home) and folder != Path.home():  # noqa: PTH112 PermissionError is an answer
                    return cls(home)
        return cls()

    @property
    def agents(self) -> Path | None:
        """Where the user's own specialists live."""
        return self._part("agents")

    @property
    def tools(self) -> Path | None:
        """Where the user's own tools live."""
        return self._part("tools")

    @property
    def reports(self) -> Path | None:
        """Where the user's own report formats live."""
        return self._part("reports")

    @property
    def failure_modes(self) -> Path | None:
        """Where the user's own failure modes live."""
        return self._part("failure_modes")

    def profile(self) -> ProjectProfile | None:
        """`project.md`: front matter and prose; raises `DefinitionError` when it is not readable as that."""
        path = self.home / "project.md" if self.home else None
        if path is None or not path.is_file():
            return None
        # Where a project is must be known before anything that takes long to import is needed.
        from traindx.contract import ProjectProfile
        from traindx.definitions import frontmatter

        parsed = frontmatter.parse(path, required=False)
        return ProjectProfile(source=f"{FOLDER}/project.md", facts=parsed.values, prose=parsed.body.strip())

    def _part(self, name: str) -> Path | None:
        folder = self.home / name if self.home else None
        return folder if folder is not None and folder.is_dir() else None


def _starts(path: Path) -> list[Path]:
    """Where to look; a path that cannot be resolved, a loop of links, is none."""
    try:
        return [path.resolve(), Path.cwd()]
    except (OSError, RuntimeError):
        return []
