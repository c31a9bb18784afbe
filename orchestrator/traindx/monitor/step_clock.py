"""The time of a step, and the part of it before the forward pass, in which training waits for data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import perf_counter
from typing import TypeVar

Batch = TypeVar("Batch")


class StepClock:
    """Times steps from the end of one to the end of the next; a step with an evaluation in it has no time."""

    def __init__(self) -> None:
        self._ended: float | None = None
        self._waited: float | None = None
        self._fetched = 0.0
        self._is_exact = self._is_spoilt = False
        self.own = 0.0
        """seconds that the monitor took in this step"""

    def forward_begins(self) -> None:
        """The batch is there."""
        if self._waited is None and self._ended is not None:
            self._waited = perf_counter() - self._ended - self.own

    def evaluates(self) -> None:
        """An evaluation takes a part of this step."""
        self._is_spoilt = True

    def fetching(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The batches, with the time that each of them takes to come."""
        self._is_exact = True
        source = iter(batches)
        while True:
            began = perf_counter()
            try:
                batch = next(source)
            except StopIteration:
                return
            self._fetched += perf_counter() - began
            yield batch

    def end(self) -> tuple[float | None, float | None]:
        """Seconds of the step that ends now, and those of waiting for its data; None where they are not known."""
        now = perf_counter()
        took = None if self._ended is None or self._is_spoilt else max(0.0, now - self._ended - self.own)
        waited = self._fetched if self._is_exact else self._waited
        waited = None if took is None or waited is None else min(max(waited, 0.0), took)
        self._ended, self._waited, self._fetched, self._is_spoilt, self.own = now, None, 0.0, False, 0.0
        return took, waited
