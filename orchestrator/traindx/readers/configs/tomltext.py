"""TOML with the line of every value."""

from __future__ import annotations

from traindx.readers.configs.pairs import read_pairs
from traindx.readers.configs.values import Found, Remark, Unreadable, dotted, flat


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
    for path, value in values.items():
        key = dotted(path)
        yield key, value, places.get(key.partition("[")[0], 1)
