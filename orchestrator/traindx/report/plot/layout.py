"""From a chart to shapes: panels, axes, curves, marks and their labels."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from traindx.report.plot.chart import Chart, Mark, Numbers, Panel
from traindx.report.plot.envelope import Stretch, stretches
from traindx.report.plot.labels import LABEL, ROW, Frame, beside, rows_of, spread
from traindx.report.plot.scale import Scale, brief, fitted
from traindx.report.plot.shapes import (
    GRID,
    HEIGHT,
    INK,
    SHADE,
    SOFT,
    STYLES,
    WIDTH,
    Box,
    Dot,
    Shape,
    Stroke,
    Style,
    Words,
    paler,
    width_of,
)

LEFT, RIGHT, TOP, BOTTOM = 74.0, 850.0, 104.0, 52.0
SMALL, GAP = 84.0, 34.0
FEW_POINTS = 60
LONGEST_LABEL = 22
_DASHES: dict[str, tuple[float, ...]] = {"onset": (7, 4), "lost": (), "seam": (2, 4)}


@dataclass(frozen=True)
class Frames:
    """A panel in its place, with its scale and the pieces of its lines."""

    panel: Panel
    top: float
    bottom: float
    across: Scale
    up: Scale
    pieces: tuple[tuple[Stretch, ...], ...]
    styles: tuple[Style, ...]

    @property
    def room(self) -> Frame:
        """What labels have to stay in."""
        return LEFT + 2, self.top + 2, RIGHT - 2, self.bottom - 2


def laid_out(chart: Chart) -> list[Shape]:
    """Every shape of the picture, in the order of drawing."""
    frames = _frames(chart)
    marks = [mark for mark in chart.main.marks if mark.y is None]
    shapes: list[Shape] = [Box(0, 0, WIDTH, HEIGHT, "#FFFFFF")]
    for frame in frames:
        shapes += _ground(frame, marks)
    for frame in frames:
        shapes += _curves(frame)
    shapes += _across(frames, marks)
    shapes += _on_points(frames[0])
    for frame in frames:
        shapes += _line_labels(frame)
    return shapes + _heading(chart, frames) + _horizontal_axis(chart, frames)


def _frames(chart: Chart) -> list[Frames]:
    across = _across_scale(chart)
    below = len(chart.below)
    bottom = HEIGHT - BOTTOM - below * (SMALL + GAP)
    places = [(TOP, bottom)]
    for _ in range(below):
        top = places[-1][1] + GAP
        places.append((top, top + SMALL))
    headroom = 6 + ROW * _label_rows(chart, across)
    frames, used = [], 0
    for panel, (top, end) in zip(chart.panels, places, strict=True):
        main = panel is chart.main
        up = fitted([line.y for line in panel.lines], end - 6, top + (headroom if main else 8))
        pieces = tuple(tuple(stretches(line, across.low, across.high, int(RIGHT - LEFT))) for line in panel.lines)
        styles = tuple(STYLES[(used + at) % len(STYLES)] for at in range(len(panel.lines)))
        used += len(panel.lines) if main else 0
        # The small panels have one line each and no company: ink is enough.
        frames.append(Frames(panel, top, end, across, up, pieces, styles if main else (Style(INK, (), "circle"),)))
    return frames


def _across_scale(chart: Chart) -> Scale:
    rows = [line.x[np.isfinite(line.x)] for panel in chart.panels for line in panel.lines]
    ends = [float(end) for row in rows if len(row) for end in (row.min(), row.max())]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    room = 0.012 * (high - low) or 0.5
    return Scale("linear", low - room, high + room, LEFT, RIGHT)


def _ground(frame: Frames, marks: list[Mark]) -> list[Shape]:
    shapes: list[Shape] = []
    for mark in marks:
        if mark.until is not None:
            left, right = frame.across.pixel(mark.x), frame.across.pixel(mark.until)
            shapes.append(Box(left, frame.top, max(right, left + 1), frame.bottom, SHADE))
    for value, text in frame.up.ticks(max(3, int((frame.bottom - frame.top) / 42))):
        y = frame.up.pixel(value)
        if frame.top <= y <= frame.bottom:
            shapes += [Stroke(((LEFT, y), (RIGHT, y)), GRID, 1), Words(LEFT - 8, y + 4, text, 12, SOFT, "end")]
    edge = ((LEFT, frame.top), (LEFT, frame.bottom), (RIGHT, frame.bottom))
    beyond = "below zero" if frame.up.low < -frame.up.unit / 2 else "zero included"
    scale = {"linear": "", "log": " (log scale)", "symlog": f" (log scale, {beyond})"}[frame.up.kind]
    title = Words(LEFT, frame.top - 9, readable(frame.panel.title, 60) + scale, 13, INK)
    return [*shapes, Stroke(edge, SOFT, 1), title]


def _curves(frame: Frames) -> list[Shape]:
    pale: list[Shape] = []
    strong: list[Shape] = []
    for line, pieces, style in zip(frame.panel.lines, frame.pieces, frame.styles, strict=True):
        for piece in pieces:
            x, y = frame.across.pixels(piece.x), frame.up.pixels(piece.y)
            if piece.crowded:
                pale += _strokes(x, y, paler(style.colour, 0.38), 1.1)
                x, y = frame.across.pixels(piece.trend_x), frame.up.pixels(piece.trend_y)
            strong += _strokes(x, y, style.colour, 2.2, style.dash)
            if len(line.x) <= FEW_POINTS or len(piece.x) == 1:
                sound = zip(x.tolist(), y.tolist(), strict=True)
                strong += [Dot(a, b, style.form, 2.8, style.colour) for a, b in sound if np.isfinite(b)]
    return pale + strong


def _strokes(x: Numbers, y: Numbers, colour: str, width: float, dash: tuple[float, ...] = ()) -> list[Shape]:
    """A curve, in pieces where a value has no place on the scale."""
    sound = np.isfinite(y)
    edges = [0, *(np.flatnonzero(np.diff(sound.astype(np.int8))) + 1).tolist(), len(x)]
    found: list[Shape] = []
    for first, last in pairwise(edges):
        if last - first > 1 and sound[first]:
            points = tuple(zip(x[first:last].tolist(), y[first:last].tolist(), strict=True))
            found.append(Stroke(points, colour, width, dash))
    return found


def _label_rows(chart: Chart, across: Scale) -> int:
    placed = _across_labels([mark for mark in chart.main.marks if mark.y is None], across)
    return max((row for _, row in placed), default=-1) + 1


def _across_labels(marks: list[Mark], across: Scale) -> list[tuple[Words, int]]:
    """The label of every vertical line, to its right where there is room, and the row it stands in."""
    words = []
    for mark in marks:
        x, text = across.pixel(mark.x), readable(mark.label, 60)
        fits = x + 6 + width_of(text, LABEL) <= RIGHT
        words.append(Words(x + 6 if fits else x - 6, 0, text, LABEL, INK, "start" if fits else "end"))
    rows = rows_of([(word.frame[0], word.frame[2]) for word in words])
    return list(zip(words, rows, strict=True))


def _across(frames: list[Frames], marks: list[Mark]) -> list[Shape]:
    shapes: list[Shape] = []
    for mark, (words, row) in zip(marks, _across_labels(marks, frames[0].across), strict=True):
        x = frames[0].across.pixel(mark.x)
        for frame in frames:
            start = frame.top + (ROW * row + 4 if frame is frames[0] else 0)
            shapes.append(Stroke(((x, start), (x, frame.bottom)), INK, 1.3, _DASHES.get(mark.kind, ())))
        if mark.kind == "lost":
            shapes.append(Dot(x, frames[0].bottom - 8, "cross", 4.5, INK))
        y = frames[0].top + ROW * row + 13
        shapes.append(Words(words.x, y, words.text, words.size, words.colour, words.anchor, halo=True))
    return shapes


def _on_points(frame: Frames) -> list[Shape]:
    curves = _drawn_points(frame)
    taken: list[Frame] = []
    for words, row in _across_labels([mark for mark in frame.panel.marks if mark.y is None], frame.across):
        left, _, right, _ = words.frame
        taken.append((left, frame.top + ROW * row, right, frame.top + ROW * (row + 1)))
    shapes: list[Shape] = []
    for mark in frame.panel.marks:
        if mark.y is None:
            continue
        x, y = frame.across.pixel(mark.x), frame.up.pixel(mark.y)
        if not np.isfinite(y):
            continue
        if mark.kind == "spike":
            y += 9 if mark.downward else -9
            shapes.append(Dot(x, y, "upright" if mark.downward else "triangle", 5, INK))
        else:
            shapes += [Dot(x, y, "circle", 6.5, "#FFFFFF", filled=False), Dot(x, y, "circle", 5, INK, filled=False)]
        words = beside(x, y, readable(mark.label, 60), INK, frame.room, taken, curves)
        taken.append(words.frame)
        shapes += [*_leader(x, y, words), words]
    return shapes


def _leader(x: float, y: float, words: Words) -> list[Shape]:
    """A thin line from a mark to its label, where the label had to stand away from it."""
    left, top, right, bottom = words.frame
    near_x, near_y = min(max(x, left), right), bottom if bottom < y else top
    if abs(near_y - y) < 18:
        return []
    start = y + (8 if near_y > y else -8)
    return [Stroke(((x, start), (near_x, near_y)), SOFT, 0.9)]


def _drawn_points(frame: Frames) -> tuple[Numbers, Numbers]:
    pieces = [piece for row in frame.pieces for piece in row]
    if not pieces:
        return np.array([]), np.array([])
    ways = [_dense(frame.across.pixels(piece.x), frame.up.pixels(piece.y)) for piece in pieces]
    return np.concatenate([x for x, _ in ways]), np.concatenate([y for _, y in ways])


def _dense(x: Numbers, y: Numbers) -> tuple[Numbers, Numbers]:
    """Points every few pixels along a curve, so that what lies between two values counts as covered too."""
    sound = np.isfinite(y)
    x, y = x[sound], y[sound]
    if len(x) < 2:
        return x, y
    way = np.append(0.0, np.cumsum(np.hypot(np.diff(x), np.diff(y))))
    at = np.linspace(0.0, way[-1], min(20_000, int(way[-1] / 4) + 2))
    return np.interp(at, way, x), np.interp(at, way, y)


def _line_labels(frame: Frames) -> list[Shape]:
    """The name of each line at its end, with its last value."""
    ends = [_end(frame, at) for at in range(len(frame.panel.lines))]
    shown = [(line, style, end) for line, style, end in zip(frame.panel.lines, frame.styles, ends, strict=True) if end]
    heights = spread([end[1] for _, _, end in shown], frame.top + 8, frame.bottom - 4, 2 * ROW - 3)
    shapes: list[Shape] = []
    for (line, style, (x, y, value)), height in zip(shown, heights, strict=True):
        if abs(height - y) > 4 or x < RIGHT - 20:
            shapes.append(Stroke(((min(x + 4, RIGHT), y), (RIGHT + 8, height)), paler(style.colour, 0.6), 1))
        shapes.append(Words(RIGHT + 11, height + 1, readable(line.label, LONGEST_LABEL), LABEL, style.colour))
        shapes.append(Words(RIGHT + 11, height + 14, f"ends: {brief(value)}", 11.5, SOFT))
    return shapes


def _end(frame: Frames, at: int) -> tuple[float, float, float] | None:
    pieces = frame.pieces[at]
    if not pieces:
        return None
    last = max(pieces, key=lambda piece: float(piece.x[-1]))
    level = last.trend_y if last.crowded else last.y
    value = float(level[-1])
    y = frame.up.pixel(value)
    return (frame.across.pixel(float(last.x[-1])), y, value) if np.isfinite(y) else None


def _heading(chart: Chart, frames: list[Frames]) -> list[Shape]:
    shapes: list[Shape] = [
        Words(LEFT, 30, readable(chart.title, 80), 19, INK),
        Words(LEFT, 51, readable(chart.subtitle, 140), 12.5, SOFT),
    ]
    x = LEFT
    for line, style in zip(chart.main.lines, frames[0].styles, strict=True):
        text = readable(line.label, LONGEST_LABEL)
        shapes += [
            Stroke(((x, 68), (x + 34, 68)), style.colour, 2.2, style.dash),
            Dot(x + 17, 68, style.form, 2.8, style.colour),
        ]
        shapes.append(Words(x + 41, 72, text, LABEL, INK))
        x += 41 + width_of(text, LABEL) + 22
    if any(piece.crowded for frame in frames for row in frame.pieces for piece in row) and x < RIGHT - 250:
        shapes.append(Words(x, 72, "pale: every value; strong: running median", LABEL, SOFT))
    return shapes


def _horizontal_axis(chart: Chart, frames: list[Frames]) -> list[Shape]:
    last, shapes = frames[-1], list[Shape]()
    whole = chart.axis != "row"
    for value, text in last.across.ticks(8):
        x = last.across.pixel(value)
        if whole and value != round(value):
            continue
        for frame in frames:
            shapes.append(Stroke(((x, frame.bottom), (x, frame.bottom + 4)), SOFT, 1))
        shown = brief(value) if whole else text
        shapes.append(Words(x, last.bottom + 18, shown, 12, SOFT, "middle"))
    return [*shapes, Words((LEFT + RIGHT) / 2, last.bottom + 38, readable(chart.axis, 60), 13, INK, "middle")]


def readable(text: str, most: int) -> str:
    """A text from a file as it may stand in a picture: one line of printable characters, not too long."""
    plain = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return plain if len(plain) <= most else plain[: most - 1] + "…"
