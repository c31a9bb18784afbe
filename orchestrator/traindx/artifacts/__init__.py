"""Finding and reading what a training run left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traindx.artifacts.folder.scope import Scope
    from traindx.artifacts.model import Axis, Role, RunFile, Series, Setting, Sighting
    from traindx.artifacts.program.codebase import CodeUnit
    from traindx.artifacts.run import Run

__all__ = ["Axis", "CodeUnit", "Role", "Run", "RunFile", "Scope", "Series", "Setting", "Sighting"]

# Only the worker reads: the process that asks needs a `Scope`, and none of the readers that `Run` brings along.
_HOMES = {
    "CodeUnit": "traindx.artifacts.program.codebase",
    "Run": "traindx.artifacts.run",
    "Scope": "traindx.artifacts.folder.scope",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'traindx.artifacts' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES.get(name, "traindx.artifacts.model")), name)
