"""What happens during an investigation, told while it happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from traindx.contract.diagnosis import Diagnosis
from traindx.contract.value import Value


class Event(Value):
    """One thing that happened, in words fit for a progress line; `text` are pieces of what a model is saying."""

    kind: Literal["stage", "tool_started", "tool_finished", "finding", "text", "done"]
    text: str
    diagnosis: Diagnosis | None = None
    """with `done`"""
    thought: bool = False
    """with `text`: a summary of what the model thinks, not what it answers"""


Listener = Callable[[Event], None]


def null_listener(event: Event) -> None:
    """The listener for those who do not listen."""
