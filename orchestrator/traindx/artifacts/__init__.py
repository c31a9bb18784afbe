"""Finding and reading what a training run left behind."""

from traindx.artifacts.folder.scope import Scope
from traindx.artifacts.model import Axis, Role, RunFile, Series, Setting, Sighting
from traindx.artifacts.program.codebase import CodeUnit
from traindx.artifacts.run import Run

__all__ = ["Axis", "CodeUnit", "Role", "Run", "RunFile", "Scope", "Series", "Setting", "Sighting"]
