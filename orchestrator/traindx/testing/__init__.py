"""A scripted Messages-API server for tests: real HTTP and SSE, scripted turns, programmable faults."""

from traindx.testing.received import Received, sent_by
from traindx.testing.server import Script, ScriptedMessagesServer, unreachable_url
from traindx.testing.turns import (
    Turn,
    call,
    cut,
    garbage,
    hang,
    raw_call,
    refuse,
    reset,
    say,
    status,
    stopped,
    submit,
    think,
)

__all__ = [
    "Received",
    "Script",
    "ScriptedMessagesServer",
    "Turn",
    "call",
    "cut",
    "garbage",
    "hang",
    "raw_call",
    "refuse",
    "reset",
    "say",
    "sent_by",
    "status",
    "stopped",
    "submit",
    "think",
    "unreachable_url",
]
