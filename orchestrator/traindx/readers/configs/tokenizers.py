"""How many tokens a tokenizer has, from the files that tokenizers and sentencepiece write."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO, TypeGuard

from traindx.readers.model import RunFile

LARGEST = 48 << 20
_NAMES = {"tokenizer.json", "vocab.json", "vocab.txt", "added_tokens.json"}


@dataclass(frozen=True)
class Tokenizer:
    """The tokens of one file: how many, and the highest id with its token."""

    path: str
    tokens: int
    highest: int
    highest_token: str

    @property
    def folder(self) -> str:
        """Where it lies."""
        return str(PurePosixPath(self.path).parent)


def tokenizer_files(files: Iterable[RunFile]) -> list[RunFile]:
    """The files of tokenizers among those of a run."""
    return [file for file in files if PurePosixPath(file.path).name in _NAMES and 0 < file.size <= LARGEST]


def read_tokenizer(handle: BinaryIO, path: str) -> Tokenizer | None:
    """The tokens of one file; None where it holds none."""
    raw = handle.read(LARGEST + 1)
    if path.endswith("vocab.txt"):
        lines = raw.decode("utf-8", "replace").rstrip("\n").split("\n")
        return Tokenizer(path, len(lines), len(lines) - 1, lines[-1][:80])
    try:
        read = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    ids = _ids(read) if isinstance(read, dict) else {}
    if not ids:
        return None
    highest = max(ids)
    return Tokenizer(path, len(ids), highest, ids[highest][:80])


def _ids(read: dict[str, object]) -> dict[int, str]:
    """Tokens by id: of a whole tokenizer its vocabulary and what was added to it, else the mapping itself."""
    model, added = read.get("model"), read.get("added_tokens")
    vocabulary = model.get("vocab") if isinstance(model, dict) else read
    ids: dict[int, str] = {}
    if isinstance(vocabulary, dict):
        ids = {number: str(token) for token, number in vocabulary.items() if _is_id(number)}
    elif isinstance(vocabulary, list):  # unigram models: the place in the list is the id
        ids = {at: str(row[0]) for at, row in enumerate(vocabulary) if isinstance(row, list) and row}
    for row in added if isinstance(added, list) else ():
        if isinstance(row, dict) and _is_id(row.get("id")):
            ids[row["id"]] = str(row.get("content", ""))
    return ids


def _is_id(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 32
