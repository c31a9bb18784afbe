"""The chat: a run kept open, diagnosed once, and talked about with a model or without one."""

from traindx.chat.room import Invitation, chat

__all__ = ["Invitation", "chat"]
