"""What the monitor has to say about itself: once each, through `logging`, and never as an exception into the loop."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any, TypeVar

_log = logging.getLogger("traindx.monitor")
_MOST_SENTENCES = 50
Function = TypeVar("Function", bound=Callable[..., Any])


class Reporter:
    """Says each sentence once."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def say(self, sentence: str) -> None:
        """Warn, unless this was said before."""
        if sentence not in self._said and len(self._said) < _MOST_SENTENCES:
            self._said.add(sentence)
            _log.warning("traindx.monitor: %s", sentence)


def contained(method: Function) -> Function:
    """A method of an object with a `reporter` that reports what goes wrong in it, and returns None then."""

    @functools.wraps(method)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(self, *args, **kwargs)
        except Exception as error:  # noqa: BLE001 - the boundary to a user's training loop, which must go on
            what = f"{type(error).__name__}: {str(error)[:200]}"
            self.reporter.say(f"something was not recorded, and the training goes on ({method.__name__}: {what})")
            return None

    return wrapped  # type: ignore[return-value]
