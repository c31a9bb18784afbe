"""What the run's numbers are to be compared with, worked out inside the worker."""

from __future__ import annotations

from traindx.detectors.norms import norms
from traindx.program.followed import settings_of
from traindx.readers import Run
from traindx.runtime import Task, ToolInput, ToolOutput, tool

NORMS = Task("norms")


class Input(ToolInput):
    """Nothing to choose."""


class Norms(ToolOutput):
    """A line for each number that has a norm."""

    rows: list[str]


@tool(timeout=30.0)
def compare_with_norms(given: Input, run: Run) -> Norms:  # noqa: ARG001 - every tool takes its input
    """Say beside the run's numbers what is usual."""
    return Norms(rows=norms(run.series, settings_of(run), run.program))
