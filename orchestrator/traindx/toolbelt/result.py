"""What comes back from a tool, and how a tool describes itself."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from traindx.contract import Signal, Value


class ToolResult(Value):
    """`ok` with an output, `no_data` with what was looked for and where, or `failed` with the reason."""

    tool: str
    status: Literal["ok", "no_data", "failed"]
    output: dict[str, Any] = Field(default_factory=dict)
    reason: str = ""
    seconds: float = 0.0

    @property
    def signals(self) -> list[Signal]:
        """The findings, each marked with the tool that made it."""
        return [Signal.model_validate({**raw, "tool": self.tool}) for raw in self.output.get("signals", [])]


class ToolSpec(Value):
    """A tool as seen from outside the worker."""

    name: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    needs: list[str] = Field(default_factory=list)
    packages: list[str] = Field(default_factory=list)
    emits: dict[str, str] = Field(default_factory=dict)
    timeout: float = 30.0
    source: str = Field(description="the file that declares it")
