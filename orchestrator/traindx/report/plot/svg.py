"""Shapes as SVG text."""

from __future__ import annotations

from html import escape

from traindx.report.plot.bars import Bars, bars_laid_out
from traindx.report.plot.chart import Chart
from traindx.report.plot.layout import laid_out, readable
from traindx.report.plot.shapes import HEIGHT, WIDTH, Box, Dot, Points, Shape, Stroke, Words, corners

_FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"


def svg(chart: Chart | Bars) -> str:
    """The chart as a file that any browser shows; the same chart gives the same text."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
        f' font-family="{_FONT}" role="img">'
    )
    about = f"<title>{escape(readable(chart.title, 80))}</title><desc>{escape(readable(chart.subtitle, 200))}</desc>"
    return "\n".join([head, about, *(_element(shape) for shape in shapes_of(chart)), "</svg>", ""])


def shapes_of(chart: Chart | Bars) -> list[Shape]:
    """What a picture is drawn with."""
    return bars_laid_out(chart) if isinstance(chart, Bars) else list(laid_out(chart))


def _element(shape: Shape) -> str:
    if isinstance(shape, Stroke):
        dash = f' stroke-dasharray="{" ".join(f"{part:g}" for part in shape.dash)}"' if shape.dash else ""
        look = f'stroke="{shape.colour}" stroke-width="{shape.width:g}" stroke-linejoin="round"{dash}'
        return f'<polyline fill="none" {look} points="{_points(shape.points)}"/>'
    if isinstance(shape, Box):
        size = f'width="{shape.right - shape.left:.1f}" height="{shape.bottom - shape.top:.1f}"'
        return f'<rect x="{shape.left:.1f}" y="{shape.top:.1f}" {size} fill="{shape.colour}"/>'
    if isinstance(shape, Words):
        place = f'x="{shape.x:.1f}" y="{shape.y:.1f}" text-anchor="{shape.anchor}"'
        rim = ' stroke="#FFFFFF" stroke-width="4" stroke-linejoin="round" paint-order="stroke"' if shape.halo else ""
        look = f'font-size="{shape.size:g}" fill="{shape.colour}"{rim}'
        return f"<text {place} {look}>{escape(shape.text)}</text>"
    return _dot(shape)


def _dot(dot: Dot) -> str:
    look = f'fill="{dot.colour}"' if dot.filled else f'fill="none" stroke="{dot.colour}" stroke-width="2"'
    if dot.form == "circle":
        return f'<circle cx="{dot.x:.1f}" cy="{dot.y:.1f}" r="{dot.size:g}" {look}/>'
    if dot.form == "cross":
        x, y, r = dot.x, dot.y, dot.size
        way = f"M{x - r:.1f},{y - r:.1f}L{x + r:.1f},{y + r:.1f}M{x - r:.1f},{y + r:.1f}L{x + r:.1f},{y - r:.1f}"
        return f'<path d="{way}" fill="none" stroke="{dot.colour}" stroke-width="2"/>'
    return f'<polygon points="{_points(corners(dot))}" {look}/>'


def _points(points: Points) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
