"""Settings that a run prints about itself when it starts: `Namespace(lr=0.1)`, `config: {...}`, `key: value`."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator
from typing import BinaryIO

from traindx.contract import Fact
from traindx.readers.configs.settings import dotted, flat, scalar
from traindx.readers.configs.values import is_secret
from traindx.readers.logs.form import NUMBER, understand
from traindx.readers.logs.lines import numbered
from traindx.readers.model import Setting
from traindx.vocabulary.metrics import normalise
from traindx.vocabulary.optimizers import optimizer_told
from traindx.vocabulary.prefixes import PREFIX

# A run prints its settings before it trains: the rest of the log is not searched.
_HEAD_BYTES = 128 << 10
_HEAD_LINES = 400
_LONGEST_LINE = 20_000
_MOST = 1_000
_CALL = re.compile(
    r"\b(?:[Nn]amespace|dict|\w{0,40}(?:Config|Args|Arguments|Params|Parameters))\((\w{1,60}=.{1,19000})\)"
)
_MAPPING = re.compile(r"\{\s*['\"][\w.\-/]{1,60}['\"]\s*:.{1,19000}\}")
_EQUALS = re.compile(
    r"(?<![\w.\-=<>!(])(-{0,2}[A-Za-z_][\w.\-]{0,60})=('[^']{0,200}'|\"[^\"]{0,200}\"|[^\s,;()=]{1,200})"
)
_COLONS = re.compile(r"(?<!\S)([A-Za-z_][\w.]{0,60}):([^\s:,]{1,200})(?!\S)")
_ALONE = re.compile(r"\s*[-*]?\s*['\"]?([A-Za-z_][\w.\-]{0,60})['\"]?\s*:\s+([^\s:]{1,120})\s*$")
_PROCESS = {"pid", "ip", "rank", "local_rank", "world_rank", "node_rank", "info", "error", "warning", "debug"}
_TRACEBACK = "Traceback (most recent call last)"


def read_log_settings(handle: BinaryIO, source: str) -> list[Setting]:
    """The settings that a log shows in its first lines, before anything goes wrong."""
    found: list[Setting] = []
    seen: set[str] = set()
    for number, line in numbered(handle, _HEAD_BYTES):
        if len(found) >= _MOST or number > _HEAD_LINES or _TRACEBACK in line:
            break
        for key, value in _settings_in(line[:_LONGEST_LINE]):
            if key and key not in seen and not is_secret(key, value):
                seen.add(key)
                found.append(Setting(key, value, source, number))
    return found


def _settings_in(line: str) -> Iterator[tuple[str, Fact]]:
    prefix = PREFIX.match(line)
    message = line[prefix.end() :] if prefix else line
    call = _CALL.search(message)
    if call:
        yield from _call(call[1])
    elif understand(tuple(NUMBER.split(message)[::2])) is None:
        mapping = _MAPPING.search(message)
        yield from _mapping(mapping[0]) if mapping else _pairs(message, bare_words=prefix is None)
        yield from _optimizer(message)


def _call(arguments: str) -> Iterator[tuple[str, Fact]]:
    tree = _parsed(f"f({arguments})")
    if tree is None or not isinstance(tree.body, ast.Call):
        yield from _pairs(arguments)
        return
    for keyword in tree.body.keywords:
        try:
            value = ast.literal_eval(keyword.value)
        except (ValueError, TypeError, RecursionError):
            value = ast.unparse(keyword.value)[:200]
        for path, leaf in flat(value, (keyword.arg or "",)):
            yield dotted(path), leaf


def _optimizer(message: str) -> Iterator[tuple[str, Fact]]:
    """`optimizer: SGD(lr=0.1, momentum=0.9)`, `using fused AdamW`: the name, and what it was constructed with."""
    told = optimizer_told(message)
    if told is not None:
        yield "optimizer", told[0]
        yield from ((key, value) for key, value in _pairs(told[1]) if not isinstance(value, str))


def _mapping(text: str) -> Iterator[tuple[str, Fact]]:
    tree = _parsed(text)
    try:
        value = json.loads(text) if tree is None else ast.literal_eval(tree)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return
    for path, leaf in flat(value):
        yield dotted(path), leaf


def _parsed(text: str) -> ast.Expression | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an odd escape inside a string is the run's business
        try:
            return ast.parse(text, mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _pairs(message: str, bare_words: bool = True) -> Iterator[tuple[str, Fact]]:
    """The pairs of a line; after a level, `name: word` is more often a logger and its message than a setting."""
    pairs: list[tuple[str, str]] = _EQUALS.findall(message)
    # A sentence that happens to hold `x=1` is no list of settings: pairs have to be a good part of it.
    if sum(len(key) + len(value) for key, value in pairs) < len(message) / 3:
        pairs = []
    if not pairs:
        pairs = _COLONS.findall(message)
        if len(pairs) < 2:
            alone = _ALONE.match(message)
            told = alone is not None and (bare_words or not isinstance(scalar(alone[2]), str))
            pairs = (
                [(alone[1], alone[2])] if alone and told and normalise(alone[1]).kind not in {"epoch", "step"} else []
            )
    for key, value in pairs:
        name = key.lstrip("-")
        if name.lower() not in _PROCESS and not name.endswith(("Error", "Warning", "Exception")):
            yield name, scalar(value.rstrip(",;"))
