"""A copy of the user's folder for a script to run in: what it writes there is thrown away."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from traindx.errors import UnreadableInput, UsageError

LARGEST_COPIED = 16 << 20
MOST_COPIED = 512 << 20
MOST_ENTRIES = 20_000
_SKIPPED = frozenset({".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".mypy_cache"})


@dataclass
class Plan:
    """What a copy would hold; nothing is written for it."""

    folder: Path
    copied: list[Path] = field(default_factory=list)
    size: int = 0
    linked: list[Path] = field(default_factory=list)
    """too large to copy: the script reads the originals"""
    folders: list[Path] = field(default_factory=list)

    @classmethod
    def of(cls, folder: Path) -> Plan:
        """Look through a folder; raises `UsageError` where it is too large to be one project's."""
        if not folder.is_dir():
            raise UnreadableInput(folder, "it is no folder")
        plan = cls(folder)
        for count, (path, status) in enumerate(_entries(folder)):
            if count >= MOST_ENTRIES:
                raise UsageError(
                    f"`{folder}` holds more than {MOST_ENTRIES:,} files, too many to copy: give the folder that the"
                    " script needs with `--folder`"
                )
            inside = path.relative_to(folder)
            if stat.S_ISDIR(status.st_mode):
                plan.folders.append(inside)
            elif stat.S_ISLNK(status.st_mode) or status.st_size > min(LARGEST_COPIED, MOST_COPIED - plan.size):
                plan.linked.append(inside)
            elif stat.S_ISREG(status.st_mode):
                plan.copied.append(inside)
                plan.size += status.st_size
        return plan


class Scratch:
    """The copy, in a temporary folder that goes with it: `copy` for the files, `temporary` for what tools write."""

    def __init__(self, plan: Plan, *, links: bool) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="traindx-probe-"))
        self.copy = self.root / (plan.folder.resolve().name or "copy")
        self.temporary = self.root / "tmp"
        self.left_out: list[Path] = []
        try:
            self._fill(plan, links=links)
        except OSError as error:
            self.remove()
            raise UnreadableInput(
                error.filename or plan.folder, (error.strerror or "cannot be copied").lower()
            ) from None

    def __enter__(self) -> Scratch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def remove(self) -> None:
        """Throw everything away."""
        shutil.rmtree(self.root, ignore_errors=True)

    def _fill(self, plan: Plan, *, links: bool) -> None:
        self.temporary = self.temporary if self.copy != self.temporary else self.root / "temporary"
        self.temporary.mkdir()
        self.copy.mkdir()
        for folder in plan.folders:
            (self.copy / folder).mkdir(parents=True, exist_ok=True)
        for path in plan.copied:
            shutil.copyfile(plan.folder / path, self.copy / path)
        for path in plan.linked:
            original = plan.folder / path
            if links:
                (self.copy / path).symlink_to(original.resolve(), target_is_directory=original.is_dir())
            else:
                self.left_out.append(path)


def _entries(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Files, links and folders, each folder before what it holds."""
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in sorted(entries, key=lambda one: one.name):
                    status = entry.stat(follow_symlinks=False)
                    if entry.name in _SKIPPED:
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        if (Path(entry.path) / "pyvenv.cfg").exists():
                            continue
                        waiting.append(Path(entry.path))
                    yield Path(entry.path), status
        except PermissionError:
            continue
