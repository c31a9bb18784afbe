"""How tools are declared, found, described and called, each call inside the sandboxed worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

# The worker needs no toolbelt, and a command starts its worker before it loads anything else.
_HOMES = {"Toolbelt": "traindx.runtime.toolbelt", "tool_names": "traindx.runtime.discovery"}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'traindx.runtime' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES.get(name, "traindx.runtime.declaration")), name)
