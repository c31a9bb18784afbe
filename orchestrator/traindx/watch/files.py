"""The files of a job: which there are, which have grown, and what stands in for those that became long."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from traindx.readers.folder.recognise import recognise
from traindx.readers.folder.roles import by_name
from traindx.runtime.scope import Scope
from traindx.vocabulary.run_folder import LOG, STREAMS, SUMMARY
from traindx.watch.condensed import Condensed
from traindx.watch.follow import Follower
from traindx.watch.noticed import Noticed, is_text

LARGE = 1 << 20
"""bytes from which on a text is judged by what was kept of it"""
MOST_ENTRIES = 20_000
MOST_FOLLOWED = 400
_DEEPEST = 8
_SKIPPED = frozenset({".git", "node_modules", "site-packages", "__pycache__", ".venv", ".traindx", ".cache", ".aim"})
_GROWING = frozenset({"log", "metrics", "other", "data", "output"})
"""roles that a name suggests for what may turn out to be a log or a table"""
_MEASURED = frozenset({"log", "metrics"})
"""roles of files that grow with the run, whatever their form: event files too"""
_HEAD = 16 << 10


@dataclass
class _Text:
    """One growing text."""

    follower: Follower
    condensed: Condensed = field(default_factory=Condensed)
    noticed: Noticed | None = None


class Files:
    """Everything below a path, looked at again and again."""

    def __init__(self, scope: Scope, spool: Path) -> None:
        self._scope, self._spool = scope, spool
        self._texts: dict[str, _Text] = {}
        self._not_text: set[str] = set()
        self._others: dict[str, tuple[int, int]] = {}
        self.size = 0
        """bytes of all logs and tables"""
        self.taken = 0
        """bytes that came, those of files that were emptied or went away included"""
        self.others_changed = False
        """whether a file that is read as a whole has changed since this was set to False"""
        self.waited = 0.0
        """seconds of the latest look that the file system took"""
        self._worked = 0.0
        self.troubles: dict[str, str] = {}
        """files that could not be looked at, and why"""

    @property
    def points(self) -> int:
        """Values of the longest series."""
        return max((text.noticed.points for text in self._texts.values() if text.noticed), default=0)

    @property
    def astray(self) -> bool:
        """Whether a loss stands outside its usual course."""
        return any(text.noticed.astray for text in self._texts.values() if text.noticed)

    def urgent(self) -> bool:
        """Whether something that shows a fault by itself came since this was asked last."""
        # Every text is asked: each forgets what it was asked for.
        asked = [text.noticed.asked() for text in self._texts.values() if text.noticed]
        return any(asked)

    def look(self) -> bool:
        """Take in what is new; whether anything is."""
        before, grown = self.size, False
        began, self._worked = time.monotonic(), 0.0
        seen = set()
        for path, told in self._found():
            seen.add(path)
            if path in self._not_text or (path not in self._texts and not self._is_text(path, told.st_size)):
                state = (told.st_size, told.st_mtime_ns)
                if self._others.get(path) != state:
                    self._others[path] = state
                    self.others_changed = grown = True
                continue
            text = self._texts.setdefault(path, _Text(Follower(path)))
            grown = self._take(text) or grown
        for path in set(self._texts) - seen:
            del self._texts[path]
        measured = sum(size for path, (size, _) in self._others.items() if by_name(path) in _MEASURED)
        self.size = measured + sum(text.follower.size for text in self._texts.values())
        self.taken += max(0, self.size - before)
        self.waited = time.monotonic() - began - self._worked
        return grown or self.size != before

    def end(self) -> None:
        """Nothing more comes: take in what never came to the end of its line."""
        self.look()
        for text in self._texts.values():
            piece = text.follower.rest()
            if piece is not None and text.noticed is not None:
                self._add(text, piece.first, piece.data)

    def stand_ins(self) -> tuple[tuple[str, str], ...]:
        """The long texts, each with a file that holds what was kept of it."""
        found = []
        for number, (path, text) in enumerate(sorted(self._texts.items())):
            if text.follower.size >= LARGE:
                file = self._spool / f"{number}.part"
                with file.open("wb") as target:
                    text.condensed.write(target)
                found.append((path, str(file)))
        return tuple(found)

    def _take(self, text: _Text) -> bool:
        grown = False
        try:
            for piece in text.follower.news():
                if piece is None:
                    text.condensed, text.noticed = Condensed(), None
                    continue
                grown = True
                self._add(text, piece.first, piece.data)
        except OSError as error:
            self.troubles[text.follower.path] = (error.strerror or "it cannot be read").lower()
        return grown

    def _add(self, text: _Text, first: int, data: bytes) -> None:
        began = time.monotonic()
        if text.noticed is None:
            text.noticed = Noticed(text.follower.path, data)
        stays, freed = text.noticed.take(first, data)
        text.condensed.forget(freed)
        text.condensed.take(first, data, stays)
        self._worked += time.monotonic() - began

    def _is_text(self, path: str, size: int) -> bool:
        """Whether a file grows by lines; an empty one is asked again."""
        if len(self._texts) >= MOST_FOLLOWED or by_name(path) not in _GROWING:
            self._not_text.add(path)
            return False
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            self.troubles[path] = (error.strerror or "it cannot be read").lower()
            return False
        try:
            head = os.read(handle, _HEAD)
        except OSError:
            return False
        finally:
            os.close(handle)
        if not head:
            return False
        if b"\0" in head or not is_text(recognise(head)):
            self._not_text.add(path)
            return False
        return size > 0

    def _found(self) -> Iterator[tuple[str, os.stat_result]]:
        """Every regular file, the folders above first; what goes away meanwhile is none."""
        root = str(self._scope.root)
        level = [f"{root}/{part}" for part in self._scope.only] or [root]
        entries = 0
        for path in [path for path in level if not os.path.isdir(path)]:  # noqa: PTH112
            level.remove(path)
            try:
                yield path, os.stat(path)  # noqa: PTH116
            except OSError as error:
                self.troubles[path] = (error.strerror or "it cannot be read").lower()
        for _ in range(_DEEPEST):
            folders, level = level, []
            for folder in folders:
                for entry in _entries(folder):
                    entries += 1
                    if entries > MOST_ENTRIES:
                        return
                    try:
                        if entry.is_dir(follow_symlinks=False):
                            if entry.name not in _SKIPPED:
                                level.append(entry.path)
                        elif entry.is_file(follow_symlinks=False):
                            yield entry.path, entry.stat(follow_symlinks=False)
                    except OSError:
                        continue


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """What is in a folder; not the streams of a command that its log holds as well."""
    try:
        with os.scandir(folder) as found:
            entries = {entry.name: entry for entry in found}
    except OSError:
        return []
    if {LOG, SUMMARY} <= entries.keys():
        for stream in STREAMS.values():
            entries.pop(stream, None)
    return [entries[name] for name in sorted(entries)]
