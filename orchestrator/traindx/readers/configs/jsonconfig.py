"""JSON configurations with the line of every value, also where people wrote comments and trailing commas."""

from __future__ import annotations

import json
import re
from itertools import islice

from traindx.readers.configs.values import Found, Path, Remark, dotted
from traindx.readers.tables.jsontext import Leaf, NotJson, leaves

_MOST_LEAVES = 20_000

_COMMENT_OR_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|(?<![^\s,{\[])#[^\n]*', re.DOTALL)
_NOT_BREAKS = re.compile(r"[^\n]")


def read_json_config(text: str, remark: Remark) -> Found:
    """Every scalar with its dotted key and line; raises `NotJson` where the text breaks off."""
    try:
        json.loads(text)
    except RecursionError:
        pass
    except ValueError:
        plain = _COMMENT_OR_STRING.sub(_blank, text)
        remark("it is not strict JSON (comments, trailing commas, or truncated): read as far as possible")
        text = plain
    last: dict[Path, Leaf] = {}
    broken: NotJson | None = None
    try:
        for leaf in islice(leaves(text), _MOST_LEAVES):
            last[leaf.path] = leaf  # of a key that stands twice the last one counts, as for every JSON reader
    except NotJson as error:
        broken = error
    for leaf in last.values():
        yield dotted(leaf.path), leaf.value, leaf.line
    if broken is not None:
        raise broken


def _blank(found: re.Match[str]) -> str:
    said = found[0]
    return said if said.startswith('"') else _NOT_BREAKS.sub(" ", said)
