"""Charts of training runs as SVG and PNG: values in, a picture out; nothing is written to disk."""

from traindx.drawing.chart import Chart, Line, Mark, Panel
from traindx.drawing.png import png
from traindx.drawing.svg import svg

__all__ = ["Chart", "Line", "Mark", "Panel", "png", "svg"]
