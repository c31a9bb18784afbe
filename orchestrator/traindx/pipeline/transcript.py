"""Reading a transcript back."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from pydantic import ValidationError

from traindx.contract import Diagnosis
from traindx.errors import UnreadableInput, UsageError
from traindx.redaction import Redactor


@dataclass(frozen=True)
class Record:
    """What a transcript holds, in the order it happened."""

    path: Path
    entries: tuple[Mapping[str, Any], ...]

    @property
    def diagnosis(self) -> Diagnosis | None:
        """The last diagnosis it came to; `None` for an interrupted investigation."""
        for entry in reversed(self.entries):
            if entry["kind"] == "diagnosis":
                try:
                    return Diagnosis.model_validate(entry["diagnosis"])
                except (ValidationError, KeyError):
                    return None
        return None

    @property
    def request(self) -> Mapping[str, Any]:
        """What was asked: message, paths, brain."""
        return next((entry for entry in self.entries if entry["kind"] == "request"), {})

    def of(self, kind: str) -> list[Mapping[str, Any]]:
        """Every entry of one kind."""
        return [entry for entry in self.entries if entry["kind"] == kind]


def read_transcript(path: Path) -> Record:
    """The record in a file; a last line that was not finished is left out. Raises `UnreadableInput`."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableInput(path, getattr(error, "strerror", None) or "not a text file") from None
    entries = []
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
        except ValueError:
            if number == len(lines):
                break
            raise UnreadableInput(path, f"line {number} is not JSON") from None
        if not isinstance(entry, dict) or "kind" not in entry:
            raise UnreadableInput(path, f"line {number} is not a transcript entry")
        entries.append(entry)
    if not entries or entries[0]["kind"] != "case":
        raise UnreadableInput(path, "not a transcript: its first line is not a `case` entry")
    return Record(path, tuple(entries))


VERSION = 1


def default_place(run: str) -> Path:
    """A new file in the user's cache, named after the time and the run."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    name = re.sub(r"[^\w.-]+", "-", run).strip("-.")[:60] or "run"
    stamp = time.strftime("%Y-%m-%dT%H-%M-%S")
    return cache / "traindx" / "cases" / f"{stamp}-{name}-{secrets.token_hex(3)}.jsonl"


class TranscriptFile:
    """The transcript of one investigation: JSON lines, each `{"kind": …}`, without secrets.

    With `earlier`, an interrupted record, what it holds is recalled in its order, and new entries are added to it.
    """

    def __init__(self, path: Path, earlier: Record | None = None) -> None:
        self.path = path
        self.trouble = ""
        """why it is incomplete, for a person to read"""
        self._redactor = Redactor()
        self._waiting: dict[tuple[str, str, str], deque[Mapping[str, Any]]] = {}
        for entry in earlier.entries if earlier else ():
            key = (str(entry["kind"]), str(entry.get("who", "")), str(entry.get("asked", "")))
            self._waiting.setdefault(key, deque()).append(entry)
        self._file = self._opened(append=earlier is not None and path == earlier.path)
        if earlier is None or path != earlier.path:
            self.write("case", {"version": VERSION})
            for entry in earlier.entries if earlier else ():
                if entry["kind"] in {"turn", "tool"}:
                    self.write(str(entry["kind"]), entry)

    def write(self, kind: str, entry: Mapping[str, Any]) -> None:
        """Add an entry. What the model said is kept as it is: it has seen no secret, and its thinking is signed."""
        kept = dict(entry) if kind == "turn" else self._redactor.clean_json(dict(entry))
        line = json.dumps({"kind": kind, **{k: v for k, v in kept.items() if k != "kind"}}) + "\n"
        if self.trouble:
            return
        try:
            self._file.write(line)
            self._file.flush()
        except OSError as error:
            # An investigation may have cost money: a full disk ends its transcript, not its answer.
            self.trouble = f"the transcript `{self.path}` is incomplete: {(error.strerror or str(error)).lower()}"

    def recall(self, kind: str, who: str, asked: str = "") -> Mapping[str, Any] | None:
        """The next entry of the earlier record that answers this, if there is one left."""
        waiting = self._waiting.get((kind, who, asked))
        return waiting.popleft() if waiting else None

    def close(self) -> None:
        """Close the file."""
        # What could not be written is still in the buffer, and fails again here.
        with contextlib.suppress(OSError):
            self._file.close()

    def _opened(self, *, append: bool) -> TextIO:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Whoever may log in here need not read what was found in somebody's runs.
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | (0 if append else os.O_TRUNC), 0o600)
            if append:
                _drop_torn_line(handle)
        except OSError as error:
            raise UsageError(f"cannot write the transcript `{self.path}`: {error.strerror or error}") from None
        return os.fdopen(handle, "a" if append else "w", encoding="utf-8")


def _drop_torn_line(handle: int) -> None:
    """Cut off what an interruption left of a last line."""
    size = os.lseek(handle, 0, os.SEEK_END)
    text = os.pread(handle, size, 0)
    os.ftruncate(handle, text.rfind(b"\n") + 1)
    os.lseek(handle, 0, os.SEEK_END)
