"""The part of the file system that a diagnosis may look at, and nothing else."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from traindx.errors import UnreadableInput


@dataclass(frozen=True)
class Scope:
    """A run folder, or one file of a folder (`only`). Every path inside is relative to `root`."""

    root: Path
    only: str | None = None

    @classmethod
    def of(cls, path: Path | str) -> Scope:
        """The scope for what a user typed; raises `UnreadableInput` with the reason."""
        given = Path(path)
        try:
            real = given.resolve(strict=True)
            mode = real.stat().st_mode
        except FileNotFoundError:
            raise UnreadableInput(path, "no such file or folder") from None
        except (OSError, RuntimeError) as error:
            raise UnreadableInput(path, getattr(error, "strerror", None) or "a loop of symbolic links") from None
        if stat.S_ISDIR(mode):
            if not os.access(real, os.R_OK | os.X_OK):
                raise UnreadableInput(path, "permission denied")
            return cls(real)
        if stat.S_ISREG(mode):
            return cls(real.parent, real.name)
        raise UnreadableInput(path, "neither a file nor a folder")

    def resolve(self, name: str) -> Path:
        """The real path behind a name inside the scope; raises `UnreadableInput` for anything that leads out."""
        if "\0" in name:
            raise UnreadableInput(name.replace("\0", "\\0"), "a NUL byte in the name")
        try:
            real = (self.root / name).resolve(strict=True)
        except FileNotFoundError:
            raise UnreadableInput(name, "no such file in the run folder") from None
        except (OSError, RuntimeError) as error:
            raise UnreadableInput(name, getattr(error, "strerror", None) or "a loop of symbolic links") from None
        if real != self.root and self.root not in real.parents:
            raise UnreadableInput(name, "it leads out of the run folder")
        if self.only is not None and real != self.root / self.only:
            raise UnreadableInput(name, f"only `{self.only}` was given to look at")
        return real

    def open(self, name: str) -> BinaryIO:
        """Open a regular file of the scope for reading; devices, FIFOs and sockets are refused before they can block."""
        real = self.resolve(name)
        try:
            handle = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError as error:
            raise UnreadableInput(name, error.strerror or "cannot be opened") from None
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise UnreadableInput(name, "not a regular file")
        return os.fdopen(handle, "rb")
