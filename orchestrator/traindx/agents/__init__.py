"""The specialists: one markdown file each, ours in `agents/`, a project's own in `.traindx/agents/`."""

from traindx.agents.claude_sdk import as_claude_agents
from traindx.agents.load import Specialist, load_specialists

__all__ = ["Specialist", "as_claude_agents", "load_specialists"]
