"""TOML with the line of every value."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from traindx.readers.configs.pairs import read_pairs
from traindx.readers.configs.values import Found, Remark, Unreadable, dotted, flat

_ARRAY_OF_TABLES = re.compile(r"\s*\[\[([^\[\]]{1,200})\]\]")
_INDEX = re.compile(r"(?:\[\d{1,9}\])+$")


def read_toml(text: str, remark: Remark) -> Found:
    """Every scalar with its dotted key; the line is that of the key."""
    try:
        import tomllib
    except ImportError:
        remark("reading all of TOML needs Python 3.11 or newer: only its plain `key = value` lines were read")
        yield from read_pairs(text, remark)
        return
    try:
        values = dict(flat(tomllib.loads(text)))
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"it is not valid TOML: {error}") from None
    places: dict[str, int] = {}
    for key, _, line in read_pairs(text, lambda _: None):
        places.setdefault(key.partition("[")[0], line)
    places |= _in_arrays_of_tables(text)
    for path, value in values.items():
        key = dotted(path)
        yield key, value, places.get(_INDEX.sub("", key)) or places.get(key.partition("[")[0], 1)


def _in_arrays_of_tables(text: str) -> dict[str, int]:
    """The lines of the keys below each `[[name]]`, by `name[0].key`, `name[1].key` …"""
    lines, counted = text.split("\n"), Counter[str]()
    headers = [number for number, line in enumerate(lines) if line.lstrip().startswith("[")]
    places: dict[str, int] = {}
    for start, end in pairwise([*headers, len(lines)]):
        table = _ARRAY_OF_TABLES.match(lines[start])
        if table is None:
            continue
        named = re.sub(r"[\s\"']", "", table[1])
        for key, _, line in read_pairs("\n".join(lines[start + 1 : end]), lambda _: None):
            places.setdefault(f"{named}[{counted[named]}].{key.partition('[')[0]}", start + 1 + line)
        counted[named] += 1
    return places
