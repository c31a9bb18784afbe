"""JSON read value by value, each with the line it stands on and its exact spelling."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from traindx.contract import Fact

_DEEPEST = 60
_TOKEN = re.compile(
    r"[\s,:]*(?:(?P<open>[\[{])|(?P<close>[\]}])"
    r'|(?P<string>"[^"\\\n]*(?:\\.[^"\\\n]*)*")|(?P<word>[-+]?[A-Za-z0-9.][\w.+-]{0,60}))'
)
_WORDS: dict[str, Fact] = {"true": True, "false": False, "null": "null"}


class NotJson(ValueError):
    """The text stops being JSON at a line."""

    def __init__(self, line: int) -> None:
        self.line = line
        super().__init__(f"it is not JSON from line {line} on")


@dataclass(frozen=True)
class Leaf:
    """A scalar of a JSON text and the way to it: keys, and positions in lists."""

    path: tuple[str | int, ...]
    value: Fact
    text: str
    line: int


def leaves(text: str) -> Iterator[Leaf]:
    """Every scalar of a JSON text in the order of the file; raises `NotJson` where the text breaks off."""
    lists: list[bool] = []
    keys: list[str | int | None] = []
    at, line = 0, 1
    while found := _TOKEN.match(text, at):
        kind = str(found.lastgroup)
        line += text.count("\n", at, found.start(kind))
        at, word = found.end(), found[kind]
        if kind == "close":
            if not lists or lists.pop() != (word == "]"):
                raise NotJson(line)
            keys.pop()
        elif lists and not lists[-1] and keys[-1] is None:
            if kind != "string":
                raise NotJson(line)
            keys[-1] = str(_scalar(word, line))
            continue
        elif kind == "open":
            if len(lists) >= _DEEPEST:
                raise NotJson(line)
            lists.append(word == "[")
            keys.append(0 if word == "[" else None)
            continue
        else:
            path = tuple(key for key in keys if key is not None)
            yield Leaf(path, _scalar(word, line), word.strip('"'), line)
        # A value is complete: the container around it waits for the next index or key.
        if lists:
            last = keys[-1]
            keys[-1] = last + 1 if lists[-1] and isinstance(last, int) else None
    if lists or text[at:].strip():
        raise NotJson(line)


def _scalar(word: str, line: int) -> Fact:
    if word in _WORDS:
        return _WORDS[word]
    try:
        if word.startswith('"'):
            return str(json.loads(word, strict=False))
        return int(word) if word.lstrip("-").isdecimal() else float(word)
    except ValueError:
        raise NotJson(line) from None
