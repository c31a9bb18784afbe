"""The brain with a model; nothing here imports the SDK before the first call is made."""

from traindx.brains.llm.brain import ClaudeBrain
from traindx.brains.llm.budget import EFFORTS, ClaudeOptions, Effort
from traindx.brains.llm.investigation import Investigation
from traindx.brains.llm.providers.anthropic import key_is_set, outgoing

__all__ = ["EFFORTS", "ClaudeBrain", "ClaudeOptions", "Effort", "Investigation", "key_is_set", "outgoing"]
