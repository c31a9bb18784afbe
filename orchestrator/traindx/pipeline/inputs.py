"""Opening a run: what may be looked at, and the tools to look with."""

from __future__ import annotations

import contextlib
import shutil
import stat
import sys
import tarfile
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from traindx.contract import Event, Listener, null_listener
from traindx.definitions.project import Project
from traindx.errors import UnreadableInput, UsageError
from traindx.runtime import Toolbelt
from traindx.runtime.scope import Scope

Paths = str | Path | Sequence[str | Path]


@contextlib.contextmanager
def resolve_inputs(path: Paths) -> Iterator[tuple[Scope, list[str]]]:
    """The scope for what was given, archives unpacked for as long as they are looked at."""
    paths = [path] if isinstance(path, str | Path) else list(path)
    if not paths:
        raise UsageError("no path was given")
    with contextlib.ExitStack() as unpacked:
        places = [unpacked.enter_context(laid_out(one)) for one in paths]
        yield Scope.of(*(place for place, _ in places)), [row for _, remarks in places for row in remarks]


@dataclass(frozen=True)
class OpenRun:
    """A run that can be looked at: what may be read, the project around it, the tools, remarks about the input."""

    paths: tuple[str, ...]
    scope: Scope
    project: Project
    toolbelt: Toolbelt
    remarks: tuple[str, ...] = ()
    began: float = field(default_factory=time.perf_counter)


@contextlib.contextmanager
def open_run(path: Paths, listener: Listener = null_listener) -> Iterator[OpenRun]:
    """Resolve what was given and start the worker, which wakes up while the caller goes on."""
    began = time.perf_counter()
    names = tuple(str(one) for one in ([path] if isinstance(path, str | Path) else path))
    with resolve_inputs(path) as (scope, remarks):
        project = Project.around(scope.root)
        with open_toolbelt(scope, project, listener) as toolbelt:
            toolbelt.start()
            yield OpenRun(names, scope, project, toolbelt, tuple(remarks), began)


@contextlib.contextmanager
def open_part(whole: OpenRun, scope: Scope, listener: Listener = null_listener) -> Iterator[OpenRun]:
    """One of the runs in a folder that holds several."""
    project = Project.around(scope.root)
    with open_toolbelt(scope, project, listener) as toolbelt:
        yield OpenRun(whole.paths, scope, project, toolbelt, whole.remarks, whole.began)


def open_toolbelt(scope: Scope, project: Project, listener: Listener = null_listener) -> Toolbelt:
    """The toolbelt for a run: our tools and the project's own."""
    tools = [project.tools] if project.tools else []
    return Toolbelt(scope, tools, project=project.home, progress=partial(_tell, listener))


def _tell(listener: Listener, progress: str) -> None:
    listener(Event(kind="stage", text=progress))


STDIN = "-"
MOST_BYTES = 8 << 30
"""unpacked; an archive that holds more is a bomb or a data set"""
MOST_MEMBERS = 100_000
_PIECE = 1 << 20
# Checkpoints saved by torch are zip archives too: they are read as what they are.
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
_BROKEN = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError, RuntimeError, ValueError)


@contextlib.contextmanager
def laid_out(path: str | Path) -> Iterator[tuple[Path, list[str]]]:
    """The path itself, or where its content was unpacked; with remarks on what was left out."""
    if str(path) == STDIN:
        with _temporary_folder() as folder:
            yield _standard_input(folder), []
    elif _is_archive(Path(path)):
        with _temporary_folder() as folder:
            remarks: list[str] = []
            _unpack(Path(path), folder, remarks)
            yield folder, remarks
    else:
        yield Path(path), []


@contextlib.contextmanager
def _temporary_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="traindx-", ignore_cleanup_errors=True) as name:
        yield Path(name).resolve()


def _standard_input(folder: Path) -> Path:
    target = folder / "stdin.log"
    with target.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file, _PIECE)
    return target


def _is_archive(path: Path) -> bool:
    if not path.name.lower().endswith(ARCHIVES) or not path.is_file():
        return False
    return zipfile.is_zipfile(path) or tarfile.is_tarfile(path)


def _unpack(path: Path, folder: Path, remarks: list[str]) -> None:
    """Regular files only, below `folder`; links, devices and paths that lead out are left out."""
    unpacked = _Unpacked(folder, remarks)
    try:
        if zipfile.is_zipfile(path):
            _unzip(path, unpacked)
        else:
            _untar(path, unpacked)
    except _BROKEN as error:
        if not unpacked.members:
            raise UnreadableInput(path, f"the archive is damaged: {error}") from None
        remarks.append(f"`{path.name}` is damaged; {unpacked.members} files were unpacked before that")
    if unpacked.skipped:
        remarks.append(f"of `{path.name}`, {unpacked.skipped} links, devices or files outside it were left out")


class _Unpacked:
    """What has been unpacked so far, and how much more may be."""

    def __init__(self, folder: Path, remarks: list[str]) -> None:
        self.folder, self.remarks = folder, remarks
        self.members = self.bytes = self.skipped = 0

    @property
    def full(self) -> bool:
        """Whether the bounds are reached; says so once."""
        if self.bytes < MOST_BYTES and self.members < MOST_MEMBERS:
            return False
        self.remarks.append(f"the archive is large: {self.members:,} files were unpacked, the rest left out")
        return True

    def take(self, name: str, open_member: Callable[[], IO[bytes] | None]) -> None:
        """Write one member, as far as the bounds allow."""
        parts = [part for part in PurePosixPath(name.replace("\\", "/")).parts if part not in {"/", "."}]
        source = None if not parts or ".." in parts or "\0" in name else open_member()
        if source is None:
            self.skipped += 1
            return
        target = self.folder.joinpath(*parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        with source, target.open("wb") as file:
            while self.bytes < MOST_BYTES and (piece := source.read(_PIECE)):
                file.write(piece)
                self.bytes += len(piece)
        self.members += 1


def _unzip(path: Path, unpacked: _Unpacked) -> None:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            kind = stat.S_IFMT(member.external_attr >> 16)
            if member.is_dir():
                continue
            if unpacked.full:
                return
            if kind not in {0, stat.S_IFREG}:
                unpacked.skipped += 1
            else:
                unpacked.take(member.filename, partial(archive.open, member))


def _untar(path: Path, unpacked: _Unpacked) -> None:
    with tarfile.open(path) as archive:
        for member in archive:
            if member.isdir():
                continue
            if unpacked.full:
                return
            if not member.isreg():
                unpacked.skipped += 1
            else:
                unpacked.take(member.name, partial(archive.extractfile, member))
