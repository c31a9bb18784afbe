"""Shares as horizontal bars, the largest on top: names on the left, the share and the number on the right."""

from __future__ import annotations

from dataclasses import dataclass

from traindx.report.plot.layout import readable
from traindx.report.plot.shapes import BLUE, GRID, HEIGHT, INK, SOFT, WIDTH, Box, Shape, Stroke, Words, width_of

MOST = 20
_LEFT, _TOP, _BOTTOM, _RIGHT = 24.0, 96.0, 24.0, 190.0
_LONGEST_NAME = 42
_SIZE = 14.0
_THICKEST = 34.0


@dataclass(frozen=True)
class Bars:
    """A whole and its parts."""

    title: str
    subtitle: str
    rows: tuple[tuple[str, int], ...]


def bars_laid_out(bars: Bars) -> list[Shape]:
    """The picture as shapes; what comes after the first twenty rows is one bar."""
    total = max(1, sum(count for _, count in bars.rows))
    rows = list(bars.rows[:MOST])
    if len(bars.rows) > MOST:
        rows.append((f"{len(bars.rows) - MOST} others", sum(count for _, count in bars.rows[MOST:])))
    names = [readable(name, _LONGEST_NAME) for name, _ in rows]
    begin = _LEFT + max((width_of(name, _SIZE) for name in names), default=0.0) + 12
    end = WIDTH - _RIGHT
    step = min(_THICKEST, (HEIGHT - _TOP - _BOTTOM) / max(1, len(rows)))
    longest = max((count for _, count in rows), default=1) or 1
    shapes: list[Shape] = [
        Words(_LEFT, 36, readable(bars.title, 90), 20, INK),
        Words(_LEFT, 62, readable(bars.subtitle, 130), 13, SOFT),
        Stroke(((begin, _TOP - 6), (begin, _TOP + step * len(rows))), GRID, 1.0),
    ]
    for place, (name, (_, count)) in enumerate(zip(names, rows, strict=True)):
        top = _TOP + step * place
        middle = top + 0.5 * step + 0.3 * _SIZE
        width = (end - begin) * count / longest
        shapes += [
            Words(begin - 10, middle, name, _SIZE, INK, "end"),
            Box(begin, top + 0.15 * step, begin + max(1.0, width), top + 0.85 * step, BLUE),
            Words(begin + width + 8, middle, f"{count / total:.1%}  ({count:,})", _SIZE, SOFT),
        ]
    return shapes
