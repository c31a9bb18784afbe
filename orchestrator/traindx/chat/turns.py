"""One piece of work after another on an event loop that rests while the user types; Ctrl-C ends the work alone."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, TypeVar

Result = TypeVar("Result")


class Interrupted(Exception):
    """The user had enough of an answer."""


class Turns:
    """Runs coroutines to their end, each in a task of its own; `stop` is what a model's work listens to."""

    def __init__(self) -> None:
        self.stop = asyncio.Event()
        self._loop = asyncio.new_event_loop()

    def __enter__(self) -> Turns:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    def take(self, work: Coroutine[Any, Any, Result], *, gently: bool = False) -> Result:
        """The result; raises `Interrupted` after Ctrl-C. Done `gently`, the first one only asks for an early end."""
        task = self._loop.create_task(work)

        def halt() -> None:
            if gently and not self.stop.is_set():
                self.stop.set()
            else:
                task.cancel()

        in_main_thread = threading.current_thread() is threading.main_thread()
        try:
            if in_main_thread:
                self._loop.add_signal_handler(signal.SIGINT, halt)
            return self._loop.run_until_complete(task)
        except asyncio.CancelledError:
            raise Interrupted from None
        except KeyboardInterrupt:
            # Ctrl-C in the instant before the loop listened for it: the work ends all the same, and only the work.
            task.cancel()
            self._loop.run_until_complete(asyncio.wait([task]))
            raise Interrupted from None
        finally:
            if in_main_thread:
                self._loop.remove_signal_handler(signal.SIGINT)
            self.stop.clear()
