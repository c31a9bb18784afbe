"""The context package: what the run left, put together for the specialists."""

from traindx.context.gather import gather

__all__ = ["gather"]
