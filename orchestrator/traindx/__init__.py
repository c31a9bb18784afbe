"""traindx finds out why a machine-learning training run went wrong.

>>> from traindx import diagnose
>>> diagnosis = diagnose("runs/42", "the loss went up after epoch 7")
>>> diagnosis.root_causes[0].id
'lr-schedule-spike'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = ["Diagnosis", "Event", "TraindxError", "__version__", "adiagnose", "diagnose", "open_session", "stream"]

if TYPE_CHECKING:
    from traindx.contract import Diagnosis, Event
    from traindx.errors import TraindxError
    from traindx.walk import adiagnose, diagnose, open_session, stream

# `import traindx` must cost nothing inside a training script: the names arrive on first use.
_HOMES = {
    "Diagnosis": "traindx.contract",
    "Event": "traindx.contract",
    "TraindxError": "traindx.errors",
    "adiagnose": "traindx.walk",
    "diagnose": "traindx.walk",
    "open_session": "traindx.walk",
    "stream": "traindx.walk",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'traindx' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
