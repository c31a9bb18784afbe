"""traindx finds out why a machine-learning training run went wrong.

>>> from traindx import diagnose
>>> diagnosis = diagnose("runs/42", "the loss went up after epoch 7")
>>> diagnosis.root_causes[0].id
'lr-schedule-spike'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from traindx.definitions.version import __version__

__all__ = [
    "Diagnosis",
    "Event",
    "TraindxError",
    "__version__",
    "adiagnose",
    "diagnose",
    "open_session",
    "stream",
    "verify",
    "watch",
]

if TYPE_CHECKING:
    from traindx.api import adiagnose, diagnose, open_session, stream
    from traindx.contract import Diagnosis, Event
    from traindx.errors import TraindxError
    from traindx.pipeline.verification.verify import verify
    from traindx.watch import watch

# `import traindx` must cost nothing inside a training script: the names arrive on first use.
_HOMES = {
    "Diagnosis": "traindx.contract",
    "Event": "traindx.contract",
    "TraindxError": "traindx.errors",
    "adiagnose": "traindx.api",
    "diagnose": "traindx.api",
    "open_session": "traindx.api",
    "stream": "traindx.api",
    "verify": "traindx.pipeline.verification.verify",
    "watch": "traindx.watch",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'traindx' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
