"""How much processor time judgements may take, so that a watch costs a few hundredths of one core."""

from __future__ import annotations

FIRST = 5.0
"""seconds that may be spent at once: a short run is judged as often as a long one"""
MOST = 8.0
SHARE = 0.015
"""of the time that passes; following the files themselves takes about as much again at 1 MB/s"""
OVERDRAWN = -12.0
"""how far events may go into debt, which the quiet time after them pays back"""


class Allowance:
    """A purse that fills with time."""

    def __init__(self, now: float) -> None:
        self._left, self._at = FIRST, now
        self.usual = 0.6
        """what a judgement takes, as the latest ones did"""

    def affords(self, now: float, *, event: bool = False) -> bool:
        """Whether a judgement may be made now."""
        self._left = min(MOST, self._left + SHARE * (now - self._at))
        self._at = now
        return self._left >= (OVERDRAWN if event else self.usual)

    def spend(self, cost: float) -> None:
        """Pay for a judgement."""
        self._left -= cost
        self.usual = 0.5 * (self.usual + cost)
