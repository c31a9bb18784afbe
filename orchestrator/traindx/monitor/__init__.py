"""What a training run can tell of itself: telemetry for the user's own script, and probes that settle a question.

>>> from traindx.monitor import Monitor
>>> with Monitor(model, optimizer) as monitor:
...     monitor.step(loss)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = [
    "LstmHealth",
    "LstmHealthTracker",
    "LstmMetrics",
    "Monitor",
    "compute_lstm_health",
    "measure_lstm_health",
    "read_lstm_health",
]

if TYPE_CHECKING:
    from traindx.monitor.lstm_health import LstmHealth, compute_lstm_health, measure_lstm_health, read_lstm_health
    from traindx.monitor.lstm_tracker import LstmHealthTracker, LstmMetrics
    from traindx.monitor.monitor import Monitor

# The names arrive on first use: to import the room costs nothing, not even torch.
_HOMES = {
    "LstmHealth": "traindx.monitor.lstm_health",
    "LstmHealthTracker": "traindx.monitor.lstm_tracker",
    "LstmMetrics": "traindx.monitor.lstm_tracker",
    "Monitor": "traindx.monitor.monitor",
    "compute_lstm_health": "traindx.monitor.lstm_health",
    "measure_lstm_health": "traindx.monitor.lstm_health",
    "read_lstm_health": "traindx.monitor.lstm_health",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'traindx.monitor' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
