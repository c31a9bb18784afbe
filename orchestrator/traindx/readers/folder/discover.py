"""Finding the files of a run: a bounded walk that follows no link and opens nothing that could block."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from traindx.contract.remark import Notable
from traindx.readers.faults import Remarks
from traindx.readers.folder.glance import Glance
from traindx.readers.folder.roles import by_content, by_name, is_binary, needs_look
from traindx.readers.model import Role, RunFile
from traindx.runtime.scope import Scope
from traindx.vocabulary.file_magic import ARCHIVES
from traindx.vocabulary.run_folder import LOG, STREAMS, SUMMARY

MOST_ENTRIES = 1_200_000
"""directory entries that are looked at: about two seconds of scanning"""
MOST_IN_SUBFOLDER = 200_000
"""so that a folder of data does not use up the walk before the folder of logs beside it"""
MOST_FILES = 5_000
_MOST_TELLING = 100_000
MOST_LOOKS = 2_000
"""files that are looked into, a millisecond or so each"""
_DEEPEST = 12
MOST_SECONDS = 8.0
"""for the whole walk: a network file system may need a second for one folder"""
_MOSTLY = 0.8
"""of the files that may be taken; some turn out to be something else when they are looked into"""
_OF_THE_SYSTEM = ("/proc", "/sys", "/dev")
"""no run is in there, and whoever gives `/` would wait for every process of the machine"""
_SKIPPED = frozenset(
    [
        ".git",
        ".hg",
        ".svn",
        "node_modules",
        "site-packages",
        "dist-packages",
        "__pycache__",
        ".venv",
        ".traindx",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
        ".aim",
        ".tox",
        ".nox",
        ".ipynb_checkpoints",
        ".cache",
        ".idea",
        ".vscode",
        ".eggs",
    ]
)
# What a diagnosis reads first; of everything else only the names are kept.
_TELLING: tuple[Role, ...] = ("log", "metrics", "config", "code")


@dataclass
class _Found:
    """What a walk, or one folder of it, has come upon."""

    telling: list[tuple[str, Role]] = field(default_factory=list)
    others: list[tuple[str, Role]] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    devices: list[str] = field(default_factory=list)
    aim: list[str] = field(default_factory=list)
    """repositories of the tracker Aim"""
    left_out: int = 0

    def entry(self, path: str, entry: os.DirEntry[str]) -> None:
        """Put an entry where it belongs."""
        if entry.is_file(follow_symlinks=False):
            role = by_name(path)
            kept, most = (self.telling, _MOST_TELLING) if role in _TELLING else (self.others, MOST_FILES)
            if len(kept) < most:
                kept.append((path, role))
            else:
                self.left_out += 1
        elif entry.is_symlink():
            self.links.append(path)
        elif not entry.is_dir(follow_symlinks=False):
            self.devices.append(path)
        elif entry.name not in _SKIPPED:
            self.folders.append(path)
        elif entry.name == ".aim":
            self.aim.append(path)

    def take(self, other: _Found) -> None:
        """Add what a folder held; its own folders are the walk's business."""
        self.telling += other.telling[: _MOST_TELLING - len(self.telling)]
        self.others += other.others[: MOST_FILES - len(self.others)]
        self.links += other.links
        self.devices += other.devices
        self.aim += other.aim
        self.left_out += other.left_out


class _Walk:
    """One walk through a folder, shallow levels first."""

    def __init__(self, root: str, remark: Remarks, folders: list[str]) -> None:
        self.root, self.remark, self.folders = root, remark, folders
        self.found = _Found()
        self.seen = 0
        self._ends = time.monotonic() + MOST_SECONDS

    def run(self) -> None:
        """Look through the folder as far as the bounds allow."""
        level = self.folders
        for _ in range(_DEEPEST):
            level = [inner for folder in level if self._in_time() for inner in self._folder(folder)]
            if not self._in_time():
                self.remark(Notable(f"looking for files took more than {MOST_SECONDS:g} s: the rest was left out"))
                return
            if not level:
                return
        self.remark(f"folders more than {_DEEPEST} levels down were left out")

    def _in_time(self) -> bool:
        return time.monotonic() < self._ends

    def _folder(self, folder: str) -> list[str]:
        here = _Found()
        if f"{self.root.rstrip('/')}/{folder}" in _OF_THE_SYSTEM:
            return []
        most = min(MOST_ENTRIES - self.seen, MOST_IN_SUBFOLDER if folder else MOST_ENTRIES)
        try:
            with os.scandir(f"{self.root}/{folder}") as entries:
                for place, entry in enumerate(entries):
                    if place >= most:
                        here.left_out += 1
                        break
                    self.seen += 1
                    here.entry(f"{folder}/{entry.name}" if folder else entry.name, entry)
        except OSError as error:
            self.remark(f"`{_safe(folder) or '.'}` cannot be listed: {error.strerror}")
        # A virtual environment may have any name; this file makes it one.
        if folder and (f"{folder}/pyvenv.cfg", "config") in here.telling:
            return []
        self.found.take(here)
        return sorted(here.folders)


def find_files(scope: Scope, remark: Remarks) -> list[RunFile]:
    """The files of a scope with their roles, by path; what was left out is remarked."""
    given = [(part, by_name(part)) for part in scope.only if (scope.root / part).is_file()]
    folders = [part for part in scope.only if (scope.root / part).is_dir()] if scope.only else [""]
    walk = _Walk(str(scope.root), remark, folders)
    walk.run()
    found = walk.found
    for kind, paths in (("a symbolic link", found.links), ("a pipe, socket or device", found.devices)):
        if paths:
            others = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            remark(Notable(f"`{_safe(min(paths))}`{others}: {kind}, not followed"))
    for path in found.aim[:3]:
        remark(
            f"`{_safe(path)}`: Aim's own database is not read; write `aim.Repo('.').query_metrics().dataframe()`"
            " to a CSV beside the run, with a column for each metric and context"
        )
    packed = sorted(path for path, _ in (*found.telling, *found.others) if path.lower().endswith(ARCHIVES))
    if packed and not any(role in {"log", "metrics"} for _, role in (*found.telling, *given)):
        others = f" and {len(packed) - 1} more" if len(packed) > 1 else ""
        remark(Notable(f"`{_safe(packed[0])}`{others}: an archive inside, not unpacked; give it as the path itself"))
    # Files near the top tell most about a run: they come first when not all can be taken.
    chosen = sorted(found.telling, key=_importance)[:MOST_FILES]
    chosen += sorted(found.others, key=_importance)[: MOST_FILES - len(chosen)]
    left_out = len(found.telling) + len(found.others) - len(chosen) + found.left_out
    if left_out:
        remark(
            f"the folder is large: {walk.seen:,} entries were scanned, {len(chosen):,} files read, the rest left out"
        )
    # A file that was named by hand is a log unless it shows that it is something else.
    named: list[tuple[str, Role]] = [(path, "log" if role == "other" else role) for path, role in given]
    wanted = _once([row for row in (*named, *chosen) if not scope.leaves_out(row[0])])
    return sorted(_looked_at(scope, wanted, remark), key=lambda file: file.path)


def is_overfull(files: Sequence[RunFile]) -> bool:
    """Whether there is so much to read that not even all that tells of a run was taken."""
    return sum(file.role in _TELLING for file in files) > MOST_FILES * _MOSTLY


def _once(wanted: list[tuple[str, Role]]) -> list[tuple[str, Role]]:
    """Without the two streams that a command's log, which `traindx run` kept, holds as well."""
    paths = {path for path, _ in wanted}
    folders = [path.removesuffix(SUMMARY) for path in paths if path.endswith(SUMMARY)]
    twice = {folder + stream for folder in folders if folder + LOG in paths for stream in STREAMS.values()}
    return [row for row in wanted if row[0] not in twice]


def _importance(file: tuple[str, Role]) -> tuple[int, bool, str]:
    path, role = file
    return path.count("/"), role not in _TELLING, path


def _looked_at(scope: Scope, chosen: list[tuple[str, Role]], remark: Remarks) -> list[RunFile]:
    files: list[RunFile] = []
    looks = 0
    for path, role in chosen:
        size = _size(scope, path)
        if size is None:
            continue
        if looks < MOST_LOOKS and size and needs_look(path):
            looks += 1
            role = _role(scope, path, role, size, remark)  # noqa: PLW2901 (the content has the last word)
        files.append(RunFile(_safe(path), role, size))
    return files


def _role(scope: Scope, path: str, role: Role, size: int, remark: Remarks) -> Role:
    with remark.guarding(_safe(path)), scope.open(path) as handle:
        return _seen(path, role, Glance(handle, size), remark)
    return "other"


def _seen(path: str, role: Role, glance: Glance, remark: Remarks) -> Role:
    if is_binary(glance.head):
        if role in _TELLING:
            remark(f"`{_safe(path)}` contains binary data, not text")
        return "data" if role == "data" else "other"
    return by_content(path, role, glance)


def _size(scope: Scope, path: str) -> int | None:
    try:
        return scope.size(path)
    except OSError:
        return None  # it went away while the run went on


def _safe(path: str) -> str:
    """A file name that can be printed and sent as JSON: bytes that are no text become `?`."""
    return path.encode("utf-8", errors="replace").decode("utf-8")
