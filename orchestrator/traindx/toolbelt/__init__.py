"""The toolbelt: how tools are declared, found, described and invoked, each call inside the sandboxed worker."""

from traindx.toolbelt.belt import Belt
from traindx.toolbelt.declare import NoData, Tool, ToolInput, ToolOutput, tool
from traindx.toolbelt.registry import tool_names
from traindx.toolbelt.result import ToolResult, ToolSpec

__all__ = [
    "Belt",
    "NoData",
    "Tool",
    "ToolInput",
    "ToolOutput",
    "ToolResult",
    "ToolSpec",
    "tool",
    "tool_names",
]
