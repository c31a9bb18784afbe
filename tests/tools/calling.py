"""Calling a tool the way the worker does, without a worker."""

from __future__ import annotations

from typing import Any

from traindx.definitions.content import TOOLS
from traindx.readers import Run
from traindx.readers.quoting import fill_quotes
from traindx.runtime.declaration import Tool
from traindx.runtime.discovery import load_tool


def load(name: str) -> Tool:
    return load_tool(name, TOOLS / f"{name}.py")


def call(tool: Tool, run: Run, **question: str) -> Any:
    """The tool's answer, with what stands at the places it cites."""
    return fill_quotes(tool(tool.input(**question), run), run)
