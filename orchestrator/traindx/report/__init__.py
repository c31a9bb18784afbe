"""The report: the same diagnosis for a terminal, as Markdown and as JSON."""

from traindx.definitions.visible import visible
from traindx.report.render import render, render_context

__all__ = ["render", "render_context", "visible"]
