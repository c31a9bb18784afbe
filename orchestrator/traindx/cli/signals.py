"""Ending in order when the system says so: temporary folders are removed and workers ended, as after Ctrl-C."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

_POLITE = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class Ended(SystemExit):
    """A signal ended the command; asyncio lets a `SystemExit` through and cleans up on its way."""

    def __init__(self, number: int) -> None:
        self.status = 128 + number
        super().__init__(self.status)


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """Raise `Ended` at the first SIGTERM or SIGHUP; a SIGHUP that `nohup` has switched off stays off."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _frame: FrameType | None) -> None:
        for one in heard:
            # A second one must not interrupt the clean-up.
            signal.signal(one, signal.SIG_IGN)
        raise Ended(number)

    heard = [one for one in _POLITE if signal.getsignal(one) is signal.SIG_DFL]
    for one in heard:
        signal.signal(one, end)
    try:
        yield
    finally:
        for one in heard:
            signal.signal(one, signal.SIG_DFL)
