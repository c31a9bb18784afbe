"""Finding and reading what a training run left behind."""

from traindx.artifacts.model import Axis, CodeFile, Role, RunFile, Series, Setting, Sighting
from traindx.artifacts.run import Run
from traindx.artifacts.scope import Scope

__all__ = ["Axis", "CodeFile", "Role", "Run", "RunFile", "Scope", "Series", "Setting", "Sighting"]
