"""Answers of bounded size: of what is too long the beginning is kept, and it is said what was left out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

MOST_CHARACTERS = 32_000
"""about 8,000 tokens: Claude Code warns of answers above 10,000"""
_LADDER = (
    (400, 24_000), (200, 16_000), (100, 8_000), (50, 4_000), (25, 2_000), (12, 1_000), (6, 500), (3, 250), (1, 100),
)  # fmt: skip
"""rows of a list and characters of a text; the first pair that makes an answer fit is taken"""
_MOST_NAMED = 12
_DEEPEST = 20


def capped(result: Mapping[str, Any], narrow: str = "", most: int = MOST_CHARACTERS) -> dict[str, Any]:
    """The same result within `most` characters of JSON; `cut` names what was shortened, `narrow` how to get it."""
    whole: dict[str, Any] = json.loads(json.dumps(result, ensure_ascii=False, default=str))
    if _size(whole) <= most:
        return whole
    places: dict[str, str] = {}
    kept = whole
    for rows, characters in _LADDER:
        places.clear()
        kept = {key: _shortened(part, rows, characters, key, places) for key, part in whole.items() if key != "cut"}
        if _size(kept) + 1_000 <= most:
            break
    named = [f"`{place}`: {said}" for place, said in list(places.items())[:_MOST_NAMED]]
    more = [f"and {len(places) - _MOST_NAMED} more places"] if len(places) > _MOST_NAMED else []
    said = [*whole.get("cut", []), *named, *more, *([narrow] if narrow else [])]
    return {**kept, "cut": said}


def _shortened(part: Any, rows: int, characters: int, place: str, cut: dict[str, str]) -> Any:
    if isinstance(part, str) and len(part) > characters:
        tail = characters // 4
        cut[place] = f"{characters:,} of {len(part):,} characters are shown"
        return f"{part[: characters - tail]} […] {part[-tail:]}"
    if place.count(".") + place.count("[]") > _DEEPEST:
        return part if isinstance(part, str | int | float | bool) else None
    if isinstance(part, list):
        if len(part) > rows:
            cut[place] = f"{rows:,} of {len(part):,} rows are shown"
        return [_shortened(row, rows, characters, f"{place}[]", cut) for row in part[:rows]]
    if isinstance(part, dict):
        names = list(part)
        # A table by name is a list of another form; a record has fewer keys than any bound here.
        if len(names) > max(rows, 20):
            cut[place] = f"{max(rows, 20):,} of {len(names):,} entries are shown"
            names = names[: max(rows, 20)]
        return {key: _shortened(part[key], rows, characters, f"{place}.{key}", cut) for key in names}
    return part


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False))
