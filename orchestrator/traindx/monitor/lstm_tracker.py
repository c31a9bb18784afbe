"""The health of a recurrent state over the epochs of one update, as metrics for a log."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypedDict

from traindx.monitor.lstm_health import LstmHealth, compute_lstm_health

if TYPE_CHECKING:
    from collections.abc import Sequence

    from traindx.monitor.states import State


class LstmMetrics(TypedDict):
    """What is logged of an update; all None where there was no recurrent state, those of c None without a cell."""

    lstm_h_norm: float | None
    lstm_c_norm: float | None
    lstm_h_max: float | None
    lstm_c_max: float | None
    lstm_has_nan: bool | None
    lstm_has_inf: bool | None


class LstmHealthTracker:
    """Collects the health of states: means of norms, maxima of maxima, and whether any was no number.

    A norm that is NaN makes the mean NaN, a maximum that is NaN the maximum: what broke in one epoch shows.
    """

    def __init__(self) -> None:
        self._seen: list[LstmHealth] = []

    def add(self, hidden: State | LstmHealth) -> LstmHealth | None:
        """Take in a state, or its health; None, as of a policy without a recurrent network, counts for nothing."""
        health = hidden if isinstance(hidden, LstmHealth) else compute_lstm_health(hidden)
        if health is not None:
            self._seen.append(health)
        return health

    def metrics(self) -> LstmMetrics:
        """The metrics of what was added since the last `reset`."""
        cells = [one for one in self._seen if one.c_norm is not None]
        return LstmMetrics(
            lstm_h_norm=_mean([one.h_norm for one in self._seen]),
            lstm_c_norm=_mean([one.c_norm for one in cells if one.c_norm is not None]),
            lstm_h_max=_most([one.h_max for one in self._seen]),
            lstm_c_max=_most([one.c_max for one in cells if one.c_max is not None]),
            lstm_has_nan=any(one.has_nan for one in self._seen) if self._seen else None,
            lstm_has_inf=any(one.has_inf for one in self._seen) if self._seen else None,
        )

    def reset(self) -> None:
        """Begin the next update."""
        self._seen.clear()


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values and all(map(math.isfinite, values)) else _worst(values)


def _most(values: Sequence[float]) -> float | None:
    return max(values) if values and not any(map(math.isnan, values)) else _worst(values)


def _worst(values: Sequence[float]) -> float | None:
    """NaN above Inf; None of nothing."""
    if not values:
        return None
    return math.nan if any(map(math.isnan, values)) else math.inf
