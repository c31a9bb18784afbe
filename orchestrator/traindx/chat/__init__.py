"""The chat: a run kept open, diagnosed once, and talked about with a model or without one."""

from traindx.chat.loop import ChatOptions, chat

__all__ = ["ChatOptions", "chat"]
