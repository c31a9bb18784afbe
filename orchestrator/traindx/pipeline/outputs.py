"""Writing what the user asked for: a file is complete or untouched, and whatever is no regular file is written to."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

from traindx.errors import UnwritableOutput

_DESCRIPTORS = re.compile(r"/dev/fd|/proc/(self|thread-self|\d+)(/task/\d+)?/fd")
_MOST_LINKS = 40
"""what Linux follows before it speaks of a loop"""


def check_target(target: Path | str, read_only: Sequence[Path | str] = ()) -> None:
    """Refuse a target that cannot be written, before any work is done for it; `read_only` may hold none."""
    _refuse_inside(target, read_only)
    try:
        if _descriptor(Path(target)) is not None:
            return
        real = _followed(target)
        kind = _mode(real)
        if kind is not None and stat.S_ISDIR(kind):
            raise UnwritableOutput(target, "it is a folder; give the name of a file")
        if kind is not None and stat.S_ISSOCK(kind):
            raise UnwritableOutput(target, "it is a socket")
        if kind is None and not real.parent.is_dir():
            raise UnwritableOutput(target, f"there is no folder `{Path(target).parent}`")
        if not os.access(real if kind is not None else real.parent, os.W_OK):
            raise UnwritableOutput(target, "permission denied")
    except (OSError, ValueError) as error:
        raise UnwritableOutput(target, _why(error)) from None


def write_file(target: Path | str, content: bytes | str, mode: int | None = None) -> None:
    """Write a file as a whole, through links; raises `UnwritableOutput` and leaves nothing half-written behind.

    A file keeps its mode; a new one gets `mode`, or what the umask says. Devices, pipes and open descriptors
    (`/dev/stdout`, `/dev/fd/3`) are written to.
    """
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    try:
        descriptor = _descriptor(Path(target))
        if descriptor is not None:
            _pour(os.dup(descriptor), data)
            return
        real = _followed(target)
        kind = _mode(real)
        replaceable = kind is None or (stat.S_ISREG(kind) and os.access(real.parent, os.W_OK | os.X_OK))
        if replaceable:
            if kind is not None and not os.access(real, os.W_OK):
                raise UnwritableOutput(target, "permission denied")
            _replace(real, data, kind, mode)
        else:
            emptied = os.O_TRUNC if kind is not None and stat.S_ISREG(kind) else 0
            _pour(os.open(real, os.O_WRONLY | os.O_NOCTTY | emptied), data)
    except BrokenPipeError:
        raise UnwritableOutput(target, "nobody reads it any more") from None
    except (OSError, ValueError) as error:
        raise UnwritableOutput(target, _why(error)) from None


def inside(target: Path | str, folders: Sequence[Path | str]) -> bool:
    """Whether a path is one of these files, or lies in one of these folders."""
    real = Path(target).resolve()
    return any(real == folder or folder in real.parents for folder in (Path(one).resolve() for one in folders))


def _refuse_inside(target: Path | str, read_only: Sequence[Path | str]) -> None:
    for folder in read_only:
        if inside(target, [folder]):
            raise UnwritableOutput(target, f"it is inside `{folder}`, which is read-only; choose another place")


def _replace(real: Path, data: bytes, kind: int | None, mode: int | None) -> None:
    beside = real.parent / f".traindx-{os.urandom(6).hex()}"
    # The kernel takes the umask off 0o666, as it does for every file a shell makes.
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else mode)
    try:
        if kind is not None:
            _keep_owner_and_mode(handle, real, kind)
        _pour(handle, data)
        beside.replace(real)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _keep_owner_and_mode(handle: int, real: Path, kind: int) -> None:
    if not hasattr(os, "fchown"):  # Windows
        return
    owner = real.stat()
    with contextlib.suppress(PermissionError):
        os.fchown(handle, owner.st_uid, owner.st_gid)
    os.fchmod(handle, stat.S_IMODE(kind))


def _pour(handle: int, data: bytes) -> None:
    """Write everything and close; a full disk may say so only at the end."""
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
    finally:
        os.close(handle)


def _descriptor(path: Path) -> int | None:
    """The number of the open descriptor that a path stands for (`/dev/stdout`, `/dev/fd/3`)."""
    for _ in range(_MOST_LINKS):
        parent = os.path.realpath(path.parent)
        if path.name.isdecimal() and _DESCRIPTORS.fullmatch(parent):
            owner = re.search(r"/proc/(\d+)/", parent)
            return int(path.name) if owner is None or int(owner.group(1)) == os.getpid() else None
        if not path.is_symlink():
            return None
        path = path.parent / path.readlink()
    return None


def _followed(target: Path | str) -> Path:
    """Where the last link leads; a loop raises `OSError`."""
    path = Path(target)
    if path.is_symlink():
        with contextlib.suppress(FileNotFoundError):
            path.stat()
    return Path(os.path.realpath(path))


def _mode(real: Path) -> int | None:
    try:
        return real.stat().st_mode
    except FileNotFoundError:
        return None


def _why(error: Exception) -> str:
    if isinstance(error, OSError):
        return (error.strerror or "it cannot be opened").lower()
    return "not a possible file name"
