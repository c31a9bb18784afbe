"""The report: the same diagnosis for a terminal, as Markdown and as JSON."""

from traindx.report.canvas import visible
from traindx.report.render import render, render_context

__all__ = ["render", "render_context", "visible"]
