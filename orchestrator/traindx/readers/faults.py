"""What is to be said about the reading of a run: remarks, and the files that a reader failed on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from traindx.errors import UnreadableInput
from traindx.readers.model import Unread

Item = TypeVar("Item")


class Remarks:
    """Remarks, each once. A file's fault costs that file: it is noted here and the reading goes on."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.unread: list[Unread] = []

    def __call__(self, text: str) -> None:
        """Say something, unless it was said."""
        if text not in self.texts:
            self.texts.append(text)

    def said(self, found: tuple[list[Item], Sequence[str]]) -> list[Item]:
        """What a reader found; its remarks become the run's."""
        for remark in found[1]:
            self(remark)
        return found[0]

    @contextmanager
    def guarding(self, path: str) -> Iterator[None]:
        """Turn what a file raises while it is read into a remark; a fault of the reader makes the file unread."""
        try:
            yield
        except UnreadableInput as error:
            self._fail(path, error.why, str(error))
        except OSError as error:
            reason = error.strerror or "it cannot be read"
            self._fail(path, reason, f"cannot read `{path}`: {reason}")
        except (ValueError, RecursionError, MemoryError) as error:
            self._fail(path, str(error) or type(error).__name__, f"`{path}` could not be parsed: {error}")
        # The border between a run's files and our readers: what a hostile or odd file brings about in one of them
        # must not cost the others, and must not pass for a file in which there was nothing.
        except Exception as error:  # noqa: BLE001
            reason = f"the reader failed: {type(error).__name__}: {error}"
            self._fail(path, reason, f"`{path}` was not read: {reason}", surprise=True)

    def guarded(self, path: str, read: Callable[[], list[Item]]) -> list[Item]:
        """What is read of a file, or nothing where that fails."""
        with self.guarding(path):
            return read()
        return []

    def _fail(self, path: str, reason: str, said: str, surprise: bool = False) -> None:
        self(said)
        if all(row.path != path for row in self.unread):
            self.unread.append(Unread(path, reason[:300], surprise))
