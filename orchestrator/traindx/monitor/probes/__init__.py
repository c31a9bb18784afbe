"""Probes: short experiments on a model or a training script that settle what a diagnosis leaves open.

Each file is one probe. `from traindx.monitor.probes import probe_state_flow` gives its function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def __getattr__(name: str) -> Callable[..., Any]:
    from traindx.monitor.probing.declaration import PREFIX, probes

    if name.startswith(PREFIX) and (probe := probes().get(name.removeprefix(PREFIX))) is not None:
        return probe.function
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
