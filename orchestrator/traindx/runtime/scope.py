"""The part of the file system that a diagnosis may look at, and nothing else."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from traindx.errors import UnreadableInput, nearest

# Opening a folder this way needs no permission to list it, which Landlock does not give beside a single file.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(frozen=True)
class Scope:
    """A run folder, or only some files and folders of it. Every path inside is relative to `root`."""

    root: Path
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    """files and folders that belong to another run"""
    attempt: int | None = None
    """which of the attempts that wrote one log is looked at, from 1; None for the last"""
    stand_ins: tuple[tuple[str, str], ...] = ()
    """real paths, each with the file that is read in its place: a growing log, condensed"""

    @classmethod
    def of(cls, *paths: Path | str) -> Scope:
        """The scope for what a user typed; raises `UnreadableInput` with the reason."""
        scopes = [cls._of_one(path) for path in paths]
        if len(scopes) == 1:
            return scopes[0]
        root = Path(os.path.commonpath([scope.root for scope in scopes]))
        parts = [scope.root / part for scope in scopes for part in scope.only or (".",)]
        names = dict.fromkeys(part.relative_to(root).as_posix() for part in parts)
        return cls(root, () if "." in names else tuple(names))

    @classmethod
    def _of_one(cls, path: Path | str) -> Scope:
        try:
            real = Path(path).resolve(strict=True)
            mode = real.stat().st_mode
        except FileNotFoundError:
            raise UnreadableInput(path, "no such file or folder") from None
        except (OSError, RuntimeError, ValueError) as error:
            raise UnreadableInput(_printable(str(path)), _why(error)) from None
        if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
            raise UnreadableInput(path, "neither a file nor a folder")
        if not os.access(real, os.R_OK | (os.X_OK if stat.S_ISDIR(mode) else 0)):
            raise UnreadableInput(path, "permission denied")
        return cls(real) if stat.S_ISDIR(mode) else cls(real.parent, (real.name,))

    @property
    def name(self) -> str:
        """What to call the run: its folder, or the files that were given."""
        return ", ".join(self.only) or self.root.name

    def covers(self, real: Path) -> bool:
        """Whether a resolved path lies in what was given."""
        given = [self.root / part for part in self.only] or [self.root]
        return not self.leaves_out(real.relative_to(self.root).as_posix()) and any(
            real == part or part in real.parents for part in given
        )

    def leaves_out(self, path: str) -> bool:
        """Whether a path, relative to `root`, belongs to another run."""
        return bool(self.without) and not self._others.isdisjoint((path, *map(str, PurePosixPath(path).parents)))

    @cached_property
    def _others(self) -> frozenset[str]:
        return frozenset(self.without)

    def resolve(self, name: str) -> Path:
        """The real path behind a name; raises `UnreadableInput` for whatever leads out of the scope."""
        self._refuse_detours(name)
        try:
            real = (self.root / name).resolve(strict=True)
        except FileNotFoundError:
            raise UnreadableInput(name, f"no such file in the run folder{self._hint(name)}") from None
        except (OSError, RuntimeError, ValueError) as error:
            raise UnreadableInput(_printable(name), _why(error)) from None
        if real != self.root and self.root not in real.parents:
            raise UnreadableInput(name, "it points outside the run folder")
        if not self.covers(real):
            raise UnreadableInput(name, f"only `{self.name}` was given")
        return real

    def open(self, name: str) -> BinaryIO:
        """Open a regular file of the scope for reading; devices, FIFOs and sockets are refused, never waited for."""
        real = self.resolve(name)
        try:
            stand_in = self._stand_ins.get(str(real))
            handle = self._descend(real) if stand_in is None else os.open(stand_in, _FILE)
        except OSError as error:
            raise UnreadableInput(name, _why(error)) from None
        mode = os.fstat(handle).st_mode
        if stat.S_ISREG(mode):
            return os.fdopen(handle, "rb")
        os.close(handle)
        raise UnreadableInput(name, "it is a folder" if stat.S_ISDIR(mode) else "not a regular file")

    def size(self, name: str) -> int:
        """The size of what `open` would open; raises `OSError` for what is gone, and follows no link."""
        path = self.root / name
        return os.stat(self._stand_ins.get(str(path), path), follow_symlinks=False).st_size  # noqa: PTH116

    @cached_property
    def _stand_ins(self) -> dict[str, str]:
        return dict(self.stand_ins)

    def _descend(self, real: Path) -> int:
        """Open a resolved path folder by folder: a folder swapped for a link meanwhile is refused, not followed."""
        *folders, last = real.relative_to(self.root).parts or (".",)
        here = os.open(self.root, _FOLDER)
        try:
            for folder in folders:
                below = os.open(folder, _FOLDER, dir_fd=here)
                os.close(here)
                here = below
            return os.open(last, _FILE, dir_fd=here)
        finally:
            os.close(here)

    def _refuse_detours(self, name: str) -> None:
        path = PurePosixPath(name)
        if path.is_absolute() or name.startswith("~"):
            inside = path.is_relative_to(self.root)
            hint = f": `{path.relative_to(self.root)}`" if inside else ""
            raise UnreadableInput(_printable(name), f"give a path relative to the run folder{hint}")
        if ".." in path.parts:
            raise UnreadableInput(_printable(name), "`..` is not allowed in a path")

    def _hint(self, name: str) -> str:
        path = self.root / name
        try:
            close = nearest(path.name, [entry.name for entry in islice(path.parent.iterdir(), 1000)])
        except OSError:
            return ""
        return f"; did you mean `{_printable(str(PurePosixPath(name).with_name(close)))}`?" if close else ""


def _why(error: Exception) -> str:
    if isinstance(error, OSError):
        return (error.strerror or "it cannot be opened").lower()
    return "a loop of symbolic links" if isinstance(error, RuntimeError) else "not a possible file name"


def _printable(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
