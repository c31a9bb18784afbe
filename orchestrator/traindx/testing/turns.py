"""What the scripted model does next: words, thoughts, tool calls, or a fault. Turns are joined with `+`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Block = dict[str, Any]
FaultKind = Literal["status", "hang", "reset", "cut", "garbage"]

# What the service says with each status; other codes are `api_error`.
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


@dataclass(frozen=True)
class Fault:
    """Something other than an answer."""

    kind: FaultKind
    code: int = 500
    message: str = ""
    retry_after: float | None = None
    seconds: float = 0.0
    after: int = 0
    body: str = ""


@dataclass(frozen=True)
class Turn:
    """One reply. `delay` passes before the first byte, `pace` between events of the stream."""

    blocks: tuple[Block, ...] = ()
    stop_reason: str = ""
    delay: float = 0.0
    pace: float = 0.0
    fault: Fault | None = None
    stop_details: Mapping[str, Any] | None = None
    output_tokens: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __add__(self, other: Turn) -> Turn:
        """Both in one reply: the blocks one after the other, the other's fault and stop reason where it has them."""
        return replace(
            self,
            blocks=self.blocks + other.blocks,
            stop_reason=other.stop_reason or self.stop_reason,
            delay=self.delay + other.delay,
            pace=max(self.pace, other.pace),
            fault=other.fault or self.fault,
            stop_details=other.stop_details or self.stop_details,
        )

    def after(self, seconds: float) -> Turn:
        """The same reply, `seconds` later."""
        return replace(self, delay=self.delay + seconds)

    def paced(self, seconds: float) -> Turn:
        """The same reply with a pause before each event of its stream."""
        return replace(self, pace=seconds)

    @property
    def stops_for(self) -> str:
        """The stop reason: the one given, else what the blocks imply."""
        calls = any(block["type"] == "tool_use" for block in self.blocks)
        return self.stop_reason or ("tool_use" if calls else "end_turn")


def say(text: str) -> Turn:
    """A text block."""
    return Turn(({"type": "text", "text": text},))


def think(text: str, signature: str = "c2lnbmF0dXJl") -> Turn:
    """A thinking block, signed."""
    return Turn(({"type": "thinking", "thinking": text, "signature": signature},))


def call(tool: str, given: Mapping[str, Any] | None = None, **more: Any) -> Turn:
    """A tool call: `call("Read", path="train.log")`."""
    return Turn(({"type": "tool_use", "name": tool, "input": {**(given or {}), **more}},))


def raw_call(tool: str, input_json: str) -> Turn:
    """A tool call whose input is this text, valid JSON or not."""
    return Turn(({"type": "tool_use", "name": tool, "input_json": input_json},))


def submit(answer: Mapping[str, Any]) -> Turn:
    """The final answer, through `submit_diagnosis`."""
    return call("submit_diagnosis", answer)


def stopped(reason: str, turn: Turn | None = None) -> Turn:
    """A reply that ends for this reason: `max_tokens`, `pause_turn`, `model_context_window_exceeded` …"""
    return replace(turn or Turn(), stop_reason=reason)


def refuse(category: str | None = None, explanation: str | None = None) -> Turn:
    """A refusal."""
    details = {"type": "refusal", "category": category, "explanation": explanation}
    return Turn(stop_reason="refusal", stop_details=details)


def status(code: int, message: str = "", *, retry_after: float | None = None) -> Turn:
    """An HTTP error with the service's error body."""
    return Turn(fault=Fault("status", code=code, message=message or f"scripted {code}", retry_after=retry_after))


def hang(seconds: float = 3600.0) -> Turn:
    """The request is taken and nothing comes back for so long; then the connection is closed."""
    return Turn(fault=Fault("hang", seconds=seconds))


def reset() -> Turn:
    """The connection is closed before any answer."""
    return Turn(fault=Fault("reset"))


def cut(turn: Turn, after: int) -> Turn:
    """The stream breaks off after so many events."""
    return replace(turn, fault=Fault("cut", after=after))


def garbage(body: str = "data: {not json\n\n", content_type: str = "text/event-stream") -> Turn:
    """A 200 with a body that the protocol does not know."""
    return Turn(fault=Fault("garbage", body=body), extra={"content_type": content_type})


def error_body(fault: Fault) -> bytes:
    """The JSON that comes with an HTTP error."""
    kind = ERROR_TYPES.get(fault.code, "api_error")
    return json.dumps({"type": "error", "error": {"type": kind, "message": fault.message}}).encode()
