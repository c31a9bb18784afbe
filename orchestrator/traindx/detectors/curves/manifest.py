"""Where the data that the log names is listed: its line in a list or manifest, and what is told of it there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from traindx.contract import Citation
from traindx.detectors.citing import cite_line
from traindx.readers.model import Excerpt
from traindx.readers.quoting import quote_of

_NAME = re.compile(
    r"(?<![\w./-])(?=[\w./-]{0,120}\d)(?=[\w./-]{0,120}[A-Za-z])[\w-]+(?:[./-][\w-]+)+|\b[A-Za-z]\w*_\d{1,9}\b"
)
"""`cc_2023_16/part-0002`, `shard-12.tar`, `domain_3`"""
_FIELD = re.compile(r"\s*-?\s*[\"']?([A-Za-z_][\w-]{0,40})[\"']?\s*[:=]\s*\S")
_END = re.compile(r"\s*[\]}]|\s*$")
RARE = 2
"""lines of a list that name one part of the data"""
ENTRY = 20
HELD, HOLDS = 3, 2
"""entries before, and from then on, that say the same of a field"""


def listed(line: str, texts: Iterable[Excerpt]) -> list[Citation]:
    """The line that lists what a line of the log names, and the fields of its entry that say another thing from there
    on than they did before.
    """
    names = list(dict.fromkeys(_NAME.findall(line)))
    for text in texts:
        for name in names:
            whole = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
            found = [at for at, row in enumerate(text.lines) if len(row) <= 2_000 and whole.search(row)]
            if 0 < len(found) <= RARE:
                at = found[0]
                claim = f"`{name}` is listed here"
                place = cite_line(text.source, text.first + at, claim, quote_of(text.lines[at]))
                return [*_changed_fields(text, at), place]
    return []


def _changed_fields(text: Excerpt, at: int) -> list[Citation]:
    lines = [row.strip().rstrip(",") for row in text.lines]
    found = []
    for place in _entry(lines, at):
        field = _FIELD.match(lines[place])
        before = _before(lines, at, field[1]) if field and place != at else None
        if field is None or before is None or before == lines[place]:
            continue
        if lines[:at].count(before) >= HELD and lines[at:].count(lines[place]) >= HOLDS:
            claim = f"`{field[1]}` is another one from here on: it was `{before}`"
            found.append(cite_line(text.source, text.first + place, claim, quote_of(text.lines[place])))
    return found[:1]


def _entry(lines: Sequence[str], at: int) -> range:
    """The lines of the entry that holds a line."""
    begin = next((place for place in range(at, max(-1, at - ENTRY), -1) if place != at and _opens(lines[place])), at)
    end = next((place for place in range(at + 1, min(len(lines), at + ENTRY)) if _ends(lines[place])), at + 1)
    return range(begin, end)


def _opens(line: str) -> bool:
    return line.endswith(("{", "[")) or not line or line.startswith("}")


def _ends(line: str) -> bool:
    return _END.fullmatch(line[:1] or " ") is not None or line.startswith("- ")


def _before(lines: Sequence[str], at: int, field: str) -> str | None:
    """What the entry before said in the same field."""
    for place in range(at - 1, max(-1, at - 3 * ENTRY), -1):
        told = _FIELD.match(lines[place])
        if told and told[1] == field and place < at - 1 and _ended_between(lines, place, at):
            return lines[place]
    return None


def _ended_between(lines: Sequence[str], first: int, last: int) -> bool:
    """Whether another entry begins between two lines."""
    return any(_ends(line) or _opens(line) for line in lines[first + 1 : last]) or lines[last].startswith("- ")
