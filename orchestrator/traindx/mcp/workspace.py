"""What the server may look at: the folders that its host has open."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from traindx.errors import UnreadableInput, UsageError

_LONGEST = 4096
PROJECT_VARIABLE = "CLAUDE_PROJECT_DIR"
"""where Claude Code says which project a server was started for"""


class Workspace:
    """Folders that may be looked at; whatever lies outside is refused with a sentence."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self.roots = tuple(dict.fromkeys(Path(os.path.realpath(root)) for root in roots))

    def resolve(self, given: str) -> Path:
        """An existing path inside, links followed; relative ones start at the first folder that has them."""
        if "\0" in given:
            raise UsageError("the path contains a null character")
        if len(given) > _LONGEST:
            raise UnreadableInput(f"{given[:80]}…", "no path is that long")
        places = self._places(given.strip() or ".")
        inside = [place for place in places if self._holds(place)]
        if not inside:
            raise UsageError(
                f"`{given}` is outside the workspace ({self.named}): open its folder in the host, or start the server"
                " with `--root FOLDER`"
            )
        for place in inside:
            if os.path.lexists(place):
                return place
        raise UnreadableInput(given, "there is no such file or folder in the workspace")

    @property
    def named(self) -> str:
        """The folders, for a sentence."""
        return ", ".join(f"`{root}`" for root in self.roots) or "no folder is open"

    def _places(self, given: str) -> list[Path]:
        path = Path(given).expanduser() if given.startswith("~") else Path(given)
        try:
            if path.is_absolute():
                return [Path(os.path.realpath(path))]
            return [Path(os.path.realpath(root / path)) for root in self.roots]
        except OSError as error:
            raise UnreadableInput(given, error.strerror or "it is no path") from None

    def _holds(self, place: Path) -> bool:
        return any(place == root or root in place.parents for root in self.roots)


def usual_roots() -> list[Path]:
    """Where a host says nothing: the project it names in the environment, else the folder it started the server in.

    A desktop program starts its servers in the root of the file system: that is no folder that somebody has open.
    """
    return _bounded([Path(os.environ.get(PROJECT_VARIABLE) or Path.cwd())])


def paths_of(uris: Iterable[str]) -> list[Path]:
    """The folders of `file:` addresses; others are not on this machine."""
    found = []
    for uri in uris:
        parts = urlsplit(uri)
        if parts.scheme == "file" and parts.netloc in {"", "localhost"} and parts.path:
            found.append(Path(unquote(parts.path)))
    return _bounded(found)


def _bounded(folders: Iterable[Path]) -> list[Path]:
    """The folders without a whole file system."""
    return [folder for folder in folders if folder != Path(folder.anchor)]
