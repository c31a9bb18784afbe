"""The file that a probe's answer is kept in; lying in a run's folder it is evidence, cited by line."""

from __future__ import annotations

from traindx.runtime import ToolResult


def result_text(result: ToolResult) -> str:
    """The answer as JSON, one value to a line."""
    return result.model_dump_json(indent=2) + "\n"
