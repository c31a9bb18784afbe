"""The brain with a model; nothing here imports the SDK before the first call is made."""

from traindx.brains.llm.brain import ClaudeBrain
from traindx.brains.llm.budget import ClaudeOptions
from traindx.brains.llm.investigation import Investigation
from traindx.brains.llm.providers.anthropic import key_is_set, outgoing

__all__ = ["ClaudeBrain", "ClaudeOptions", "Investigation", "key_is_set", "outgoing"]
