"""The toolbelt: how tools are declared, found, described and invoked, each call inside the sandboxed worker."""

from traindx.runtime.declaration import NoData, Task, Tool, ToolInput, ToolOutput, ToolResult, ToolSpec, tool
from traindx.runtime.discovery import tool_names
from traindx.runtime.toolbelt import Toolbelt

__all__ = [
    "NoData",
    "Task",
    "Tool",
    "ToolInput",
    "ToolOutput",
    "ToolResult",
    "ToolSpec",
    "Toolbelt",
    "tool",
    "tool_names",
]
