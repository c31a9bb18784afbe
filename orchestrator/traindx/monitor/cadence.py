"""How often something is done, so that it costs no more than a share of the time that training takes."""

from __future__ import annotations

import math

_SPREAD = 10
"""times after which what is free is done every second step, then every third"""
_MOST_STEPS = 1000
"""steps after which it is done again, whatever it costs"""
_WARM_UP = 2
"""times that say nothing of the cost: caches fill, memory is allocated"""
_RECENT = 0.2
"""weight of the newest measurement in the running mean"""


class Cadence:
    """Says at which steps something is due: every n-th, or as often as its measured cost allows.

    The first seconds that it costs, as many as are `free`, are not counted: of a short run there is something to see.
    """

    def __init__(self, share: float, free: float = 0.0, every: int | None = None) -> None:
        self._share, self._free, self._every = share, free, every
        self._next, self._done = 1, 0
        self._cost = self._spent = self._step_time = 0.0
        self.interval = every or 1

    def is_due(self, step: int) -> bool:
        """Whether it is done in this step."""
        return step >= self._next

    def stepped(self, seconds: float) -> None:
        """Take in how long a step took without what is done in it."""
        self._step_time = seconds if not self._step_time else self._step_time + _RECENT * (seconds - self._step_time)

    def done(self, step: int, cost: float) -> None:
        """Take in what it cost this time, in seconds."""
        self._done += 1
        self._spent += cost
        if self._every is not None:
            self._next = step + self._every
            return
        if self._done <= _WARM_UP:
            self._cost = cost
        else:
            self._cost += _RECENT * (cost - self._cost)
        self.interval = self._affordable()
        self._next = step + self.interval

    def _affordable(self) -> int:
        if self._done <= _WARM_UP or not self._step_time:
            return 1
        affordable = min(_MOST_STEPS, max(1, math.ceil(self._cost / (self._share * self._step_time))))
        return min(affordable, 1 + self._done // _SPREAD) if self._spent < self._free else affordable
