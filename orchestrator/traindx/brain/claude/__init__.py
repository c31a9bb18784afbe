"""The mind behind a key; nothing here imports the SDK before the first call is made."""

from traindx.brain.claude.client import key_is_set, outgoing
from traindx.brain.claude.investigation import Investigation
from traindx.brain.claude.mind import ClaudeBrain
from traindx.brain.claude.options import EFFORTS, ClaudeOptions, Effort

__all__ = ["EFFORTS", "ClaudeBrain", "ClaudeOptions", "Effort", "Investigation", "key_is_set", "outgoing"]
