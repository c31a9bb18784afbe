"""The specialists: one markdown file each, ours in `agents/`, a project's own in `.traindx/agents/`."""

from traindx.agents.load import Specialist, load_specialists

__all__ = ["Specialist", "load_specialists"]
