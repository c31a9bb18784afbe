"""`traindx watch`: the files of a running job are followed, and findings are told once they are certain.

The room has the name of its function: `traindx.watch(path, on_finding)` works whether or not the room was imported.
"""

import sys
import types

from traindx.watch.finding import Finding
from traindx.watch.loop import Ending, Watch, watch

__all__ = ["Ending", "Finding", "Watch", "watch"]


class _Room(types.ModuleType):
    """A module that can be called: importing it puts it where `traindx.watch` would be the function."""

    __call__ = staticmethod(watch)


sys.modules[__name__].__class__ = _Room
