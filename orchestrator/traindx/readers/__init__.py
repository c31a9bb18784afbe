"""Finding and reading what a training run left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traindx.readers.code.codeunit import CodeUnit
    from traindx.readers.model import Axis, LogError, Role, RunFile, Series, Setting
    from traindx.readers.run import Run
    from traindx.runtime.scope import Scope

__all__ = ["Axis", "CodeUnit", "LogError", "Role", "Run", "RunFile", "Scope", "Series", "Setting"]

# Only the worker reads: the process that asks needs a `Scope`, and none of the readers that `Run` brings along.
_HOMES = {
    "CodeUnit": "traindx.readers.code.codebase",
    "Run": "traindx.readers.run",
    "Scope": "traindx.runtime.scope",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'traindx.readers' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES.get(name, "traindx.readers.model")), name)
