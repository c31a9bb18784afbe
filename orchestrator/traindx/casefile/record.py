"""Reading a case file back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from traindx.contract import Diagnosis
from traindx.errors import UnreadableInput


@dataclass(frozen=True)
class Record:
    """What a case file holds, in the order it happened."""

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


def read_case(path: Path) -> Record:
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
            raise UnreadableInput(path, f"line {number} is no entry of a case file")
        entries.append(entry)
    if not entries or entries[0]["kind"] != "case":
        raise UnreadableInput(path, "not a case file: its first line is no `case` entry")
    return Record(path, tuple(entries))
