"""Norms of recurrent state, where they were logged: growing without bound, fading to nothing, or no longer numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite, where
from traindx.detectors.curves.shape import Numbers
from traindx.readers.model import Series

SIGNALS = {
    "state-norm-explodes": "the norm of a recurrent state grows by orders of magnitude",
    "state-norm-vanishes": "the norm of a recurrent state is next to nothing",
    "state-norm-non-finite": "the norm of a recurrent state is NaN or Inf",
    "state-norm-steady": "the norm of the recurrent state stays in its range",
}

_STATE = re.compile(
    r"^\|+(?:h|c)(?:_?[tT]|_?\d)?\|+$"
    r"|(?:^|[/_. |])(?:h|c|hx|cx|hidden|cell|state|lstm_[hc]|rnn_h)[/_. ]?(?:t|n)?[/_. |]*(?:norm|abs|rms|l2)\b"
    r"|(?:^|[/_. ])(?:norm|rms)[/_. (]*(?:h|c|hidden|cell|state)\b",
    re.IGNORECASE,
)
_FLAG = re.compile(r"(?:lstm|gru|rnn|state|hidden|cell|hx|cx)\w{0,20}_has_(?:nan|inf)$", re.IGNORECASE)
# A hidden state lies between -1 and 1 in each unit: with some dozen units its norm is between 0.5 and 10.
LEAST = 0.02
MOST = 1e3
GROWTH = 30.0
ABSURD = 1e6
"""a norm that no state of any size has, whether it grew during training or within the first sequence"""
FEWEST = 4


def state_norms(series: Sequence[Series]) -> list[Series]:
    """Series that are called like the norm of a hidden or cell state, and flags that say whether it is a number."""
    return [row for row in series if len(row) >= FEWEST and (_STATE.search(row.original) or _FLAG.search(row.original))]


def detect(norms: Sequence[Series]) -> list[Signal]:
    """What the norms say, worst first."""
    found = [signal for row in norms if (signal := _judged(row, sized=not _has_rms(row, norms))) is not None]
    sizes = [row for row in norms if not _FLAG.search(row.original)]
    if not found and sizes:
        row = sizes[0]
        return [_signal("state-norm-steady", row, len(row) - 1, f"`{row.original}` stays in its range")]
    return found


def _has_rms(row: Series, norms: Sequence[Series]) -> bool:
    """Whether the root mean square was logged beside a norm: batch and width do not make it grow."""
    name = row.original.replace("norm", "rms")
    return name != row.original and any(one.original == name and one.source == row.source for one in norms)


def _judged(row: Series, *, sized: bool) -> Signal | None:
    if _FLAG.search(row.original):
        at = int(np.argmax(row.values > 0))
        what = "NaN" if row.original.lower().endswith("nan") else "Inf"
        told = f"`{row.original}` says so from {where(row, at)} on"
        return _signal("state-norm-non-finite", row, at, told, what) if row.values[at] > 0 else None
    finite = np.isfinite(row.values)
    if not finite.all():
        at = int(np.argmin(finite))
        if (climbed := _climbed(row.values[:at])) is not None:
            said = (
                f"`{row.original}` grows from {climbed[0]:.3g} to {climbed[1]:.3g}, and is not finite from"
                f" {where(row, at)} on"
            )
            return _signal("state-norm-explodes", row, at - 1, said)
        return _signal("state-norm-non-finite", row, at, f"`{row.original}` is not a number from {where(row, at)} on")
    if not sized:
        return None
    start = float(np.median(row.values[: max(1, len(row) // 5)]))
    end = float(np.median(row.values[-max(1, len(row) // 5) :]))
    if end > MOST and (end > GROWTH * max(start, 1e-9) or end > ABSURD):
        said = (
            f"`{row.original}` grows from {start:.3g} to {end:.3g}" if end > start else f"`{row.original}` is {end:.3g}"
        )
        return _signal("state-norm-explodes", row, len(row) - 1, said)
    if float(np.max(row.values)) < LEAST:
        said = f"`{row.original}` never exceeds {float(np.max(row.values)):.2g}: the state carries nothing"
        return _signal("state-norm-vanishes", row, len(row) - 1, said)
    return None


def _climbed(before: Numbers) -> tuple[float, float] | None:
    """Where a norm began and what it came to, where it grew by orders before it was no number any more."""
    if not len(before):
        return None
    first, last = float(np.min(before)), float(before[-1])
    return (first, last) if last > MOST and last > GROWTH * max(first, 1e-9) else None


def _signal(name: str, row: Series, at: int, claim: str, value: Fact | None = None) -> Signal:
    norm = float(row.values[at]) if value is None else value
    facts: dict[str, Fact] = {"state_series": row.original, "state_norm": norm}
    return Signal(id=name, claim=claim, citations=[cite(row, at, claim)], facts=facts)
