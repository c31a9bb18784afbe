"""Finding and reading what a training run left behind."""

from traindx.artifacts.codebase import CodeUnit
from traindx.artifacts.model import Axis, Role, RunFile, Series, Setting, Sighting
from traindx.artifacts.run import Run
from traindx.artifacts.scope import Scope

__all__ = ["Axis", "CodeUnit", "Role", "Run", "RunFile", "Scope", "Series", "Setting", "Sighting"]
