"""Another value in a line, spelled the way the file spells values; nothing else of the line changes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from traindx.contract import Fact

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")
_WORD = re.compile(r"(?<![\w.])(?:true|false|yes|no|on|off|0|1)(?![\w.])", re.IGNORECASE)
_PAIRS = (("true", "false"), ("yes", "no"), ("on", "off"), ("1", "0"))
_WANTS_A_POINT = (".yaml", ".yml")
_QUOTES_TEXT = (".json", ".toml", ".py")
"""YAML 1.1 takes `1e-5` for text, and `1.0e-5` for a number"""


def respelled(line: str, key: str, old: Fact, new: Fact, path: str) -> Iterator[str]:
    """The line with the new value, for each place that may hold the old one, the likeliest first."""
    places = sorted(_places(line, old), key=lambda span: _distance(line, key, span[0]))
    for start, end in places:
        said = spelled(new, line[start:end], path)
        if isinstance(new, str) and not isinstance(old, str) and path.endswith(_QUOTES_TEXT):
            said = f'"{said}"'
        yield line[:start] + said + line[end:]


def _places(line: str, old: Fact) -> Iterator[tuple[int, int]]:
    if isinstance(old, bool):
        yield from (match.span() for match in _WORD.finditer(line) if _is_true(match.group()) == old)
    elif isinstance(old, str):
        yield from (match.span() for match in re.finditer(rf"(?<!\w){re.escape(old)}(?!\w)", line) if old)
    else:
        yield from (
            match.span()
            for match in _NUMBER.finditer(line)
            if math.isclose(float(match.group().replace("_", "")), float(old), rel_tol=1e-9)
        )


def _distance(line: str, key: str, start: int) -> int:
    """How far a value stands behind the nearest mention of its key; values before any mention come last."""
    name = re.sub(r"\[\d+\]$", "", key).rsplit(".", 1)[-1]
    wanted = re.compile(re.escape(name).replace("_", "[-_]"), re.IGNORECASE)
    ends = [match.end() for match in wanted.finditer(line, 0, start)]
    return start - ends[-1] if ends else len(line) + start


def spelled(new: Fact, old: str, path: str) -> str:
    """A value in the style of the one it replaces."""
    if isinstance(new, bool):
        word = next((pair[0 if new else 1] for pair in _PAIRS if old.lower() in pair), "true" if new else "false")
        return word.upper() if old.isupper() and len(old) > 1 else word.capitalize() if old[:1].isupper() else word
    if isinstance(new, str):
        return new
    return number(float(new), old, path)


def number(value: float, old: str = "", path: str = "") -> str:
    """A number as a person writes it in such a file: four significant digits, whole where the old one was whole."""
    if value == int(value) and abs(value) < 1e15 and re.fullmatch(r"[-+]?[\d_]+", old or "0"):
        return str(int(value))
    text = f"{value:.4g}"
    if "e" in text:
        mantissa, _, exponent = text.partition("e")
        sign, digits = exponent[0], exponent[1:].lstrip("0") or "0"
        as_text = re.fullmatch(r"[-+]?\d+[eE][-+]?\d+", old)  # who writes `1e-3` there reads it back as a number
        point = path.lower().endswith(_WANTS_A_POINT) and "." not in mantissa and not as_text
        return f"{mantissa}{'.0' if point else ''}e{'-' if sign == '-' else '+' if point else ''}{digits}"
    return text if "." in text or re.fullmatch(r"[-+]?[\d_]+", old) else f"{text}.0"


def _is_true(word: str) -> bool:
    return word.lower() in {"true", "yes", "on", "1"}
