"""The context package: what the run left, put together for the specialists."""

from traindx.pipeline.context.gather import gather

__all__ = ["gather"]
