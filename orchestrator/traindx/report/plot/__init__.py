"""Charts of training runs as SVG and PNG: values in, a picture out; nothing is written to disk."""

from traindx.report.plot.chart import Chart, Line, Mark, Panel
from traindx.report.plot.png import png
from traindx.report.plot.svg import svg

__all__ = ["Chart", "Line", "Mark", "Panel", "png", "svg"]
