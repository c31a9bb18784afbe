"""Shapes as a PNG image, through Pillow."""

from __future__ import annotations

import io
import math
from itertools import pairwise
from typing import TYPE_CHECKING

from traindx.errors import TraindxError
from traindx.report.plot.bars import Bars
from traindx.report.plot.chart import Chart
from traindx.report.plot.shapes import HEIGHT, WIDTH, Box, Dot, Points, Shape, Stroke, Words, corners
from traindx.report.plot.svg import shapes_of

if TYPE_CHECKING:
    from PIL import ImageDraw

# Pillow draws lines without smoothing: they are drawn this many times larger and reduced.
_LARGER = 3
_ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}


def png(chart: Chart | Bars) -> bytes:
    """The chart as the bytes of a PNG file; raises `TraindxError` where Pillow is not installed."""
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise TraindxError("a PNG needs `pillow`: pip install pillow, or ask for an SVG") from None
    shapes = shapes_of(chart)
    large = Image.new("RGB", (WIDTH * _LARGER, HEIGHT * _LARGER), "#FFFFFF")
    pen = ImageDraw.Draw(large)
    for shape in shapes:
        _draw(pen, shape)
    picture = large.resize((WIDTH, HEIGHT), Image.Resampling.BOX)
    pen = ImageDraw.Draw(picture)
    for words in shapes:
        if isinstance(words, Words):
            # Pillow carries this font inside: no file of the system is opened.
            font = ImageFont.load_default(words.size)
            place, anchor = (words.x, words.y), _ANCHORS[words.anchor]
            if words.halo:
                pen.text(place, words.text, "#FFFFFF", font, anchor, stroke_width=2, stroke_fill="#FFFFFF")
            pen.text(place, words.text, words.colour, font, anchor)
    written = io.BytesIO()
    picture.save(written, "PNG", optimize=True)
    return written.getvalue()


def _draw(pen: ImageDraw.ImageDraw, shape: Shape) -> None:
    if isinstance(shape, Stroke):
        points = tuple((x * _LARGER, y * _LARGER) for x, y in shape.points)
        for part in _dashes(points, tuple(length * _LARGER for length in shape.dash)):
            pen.line(part, fill=shape.colour, width=max(1, round(shape.width * _LARGER)), joint="curve")
    elif isinstance(shape, Box):
        corner = (shape.left * _LARGER, shape.top * _LARGER, shape.right * _LARGER, shape.bottom * _LARGER)
        pen.rectangle(corner, fill=shape.colour)
    elif isinstance(shape, Dot):
        _dot(
            pen, Dot(shape.x * _LARGER, shape.y * _LARGER, shape.form, shape.size * _LARGER, shape.colour, shape.filled)
        )


def _dot(pen: ImageDraw.ImageDraw, dot: Dot) -> None:
    x, y, r = dot.x, dot.y, dot.size
    fill = dot.colour if dot.filled else None
    if dot.form == "circle":
        pen.ellipse((x - r, y - r, x + r, y + r), fill=fill, outline=dot.colour, width=2 * _LARGER)
    elif dot.form == "cross":
        pen.line((x - r, y - r, x + r, y + r), fill=dot.colour, width=2 * _LARGER)
        pen.line((x - r, y + r, x + r, y - r), fill=dot.colour, width=2 * _LARGER)
    else:
        pen.polygon(corners(dot), fill=fill, outline=dot.colour)


def _dashes(points: Points, pattern: tuple[float, ...]) -> list[list[tuple[float, float]]]:
    """A line cut into the strokes of a dash pattern, which runs on over its corners."""
    if not pattern:
        return [list(points)]
    strokes: list[list[tuple[float, float]]] = [[points[0]]]
    at, left, drawing = 0, pattern[0], True
    for (x, y), (to_x, to_y) in pairwise(points):
        length = math.hypot(to_x - x, to_y - y)
        done = 0.0
        while length - done > left:
            done += left
            here = (x + (to_x - x) * done / length, y + (to_y - y) * done / length)
            if drawing:
                strokes[-1].append(here)
            else:
                strokes.append([here])
            drawing, at = not drawing, (at + 1) % len(pattern)
            left = pattern[at]
        left -= length - done
        if drawing:
            strokes[-1].append((to_x, to_y))
    return [stroke for stroke in strokes if len(stroke) > 1]
