"""The toolbelt: how tools are declared, found, described and invoked, each call inside the sandboxed worker."""

from traindx.toolbelt.declare import NoData, Tool, ToolInput, ToolOutput, tool
from traindx.toolbelt.result import ToolResult, ToolSpec

__all__ = ["NoData", "Tool", "ToolInput", "ToolOutput", "ToolResult", "ToolSpec", "tool"]
