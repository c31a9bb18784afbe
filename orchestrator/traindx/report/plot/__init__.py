"""Charts of training runs as SVG and PNG: values in, a picture out; nothing is written to disk."""

import base64

from traindx.report.plot.bars import Bars
from traindx.report.plot.chart import Chart, Line, Mark, Panel
from traindx.report.plot.png import png
from traindx.report.plot.svg import svg

__all__ = ["Bars", "Chart", "Line", "Mark", "Panel", "drawn", "png", "svg"]


def drawn(chart: Chart | Bars, form: str) -> dict[str, str]:
    """A picture in the forms that a tool answers with: `svg` as text, `png` in base64; none where none is asked for."""
    found: dict[str, str] = {}
    if form in {"svg", "both"}:
        found["svg"] = svg(chart)
    if form in {"png", "both"}:
        found["png"] = base64.b64encode(png(chart)).decode("ascii")
    return found
