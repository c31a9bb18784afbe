"""What a model answers, whoever serves it: blocks, tool calls, tokens and their price, and the faults instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

MILLION = 1_000_000


@dataclass(frozen=True)
class Usage:
    """Tokens of one call or of many."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.output + other.output,
        )

    @property
    def total(self) -> int:
        """Every token that went in or out."""
        return self.sent + self.output

    @property
    def sent(self) -> int:
        """Every token that went in, cached or not."""
        return self.input + self.cache_read + self.cache_write


@dataclass(frozen=True)
class Price:
    """Dollars per million tokens; the cache is written at 1.25 times the input price."""

    input: float
    output: float
    cache_read: float

    def of(self, usage: Usage) -> float:
        """What this usage costs."""
        sent = usage.input * self.input + usage.cache_write * self.input * 1.25 + usage.cache_read * self.cache_read
        return (sent + usage.output * self.output) / MILLION


FREE = Price(0.0, 0.0, 0.0)

FaultKind = Literal[
    "no_key", "bad_key", "forbidden", "unknown_model", "bad_request", "too_long", "rate_limited", "overloaded",
    "server", "timeout", "no_network", "cut", "malformed", "refusal", "no_answer", "budget", "interrupted",
]  # fmt: skip
PASSING: frozenset[FaultKind] = frozenset(
    {"rate_limited", "overloaded", "server", "timeout", "no_network", "cut", "malformed"}
)


class ModelFault(Exception):
    """A call of the model gave nothing usable; `reason` is what the report says."""

    def __init__(self, kind: FaultKind, reason: str, retry_after: float | None = None) -> None:
        self.kind, self.reason, self.retry_after = kind, reason, retry_after
        super().__init__(reason)

    @property
    def passing(self) -> bool:
        """Whether the same call may succeed later."""
        return self.kind in PASSING


Block = dict[str, Any]
OnText = Callable[[str, bool], None]
"""told each piece as it comes, and whether it is a thought"""


@dataclass(frozen=True)
class ToolCall:
    """A tool call; `trouble` says why its input is none."""

    id: str
    name: str
    input: dict[str, Any]
    trouble: str = ""


@dataclass(frozen=True)
class Reply:
    """What the model said: blocks as they go back into the conversation, and why it stopped."""

    blocks: list[Block]
    stop_reason: str
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    stop_details: Mapping[str, Any] | None = None
    calls: list[ToolCall] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its words."""
        return "\n".join(block["text"] for block in self.blocks if block["type"] == "text")

    def as_json(self) -> dict[str, Any]:
        """For the transcript."""
        return {
            "blocks": self.blocks,
            "stop_reason": self.stop_reason,
            "usage": vars(self.usage),
            "model": self.model,
            "troubles": {call.id: call.trouble for call in self.calls if call.trouble},
        }

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> Reply:
        """The reply in a transcript."""
        troubles = entry.get("troubles", {})
        calls = [
            ToolCall(block["id"], block["name"], block["input"], troubles.get(block["id"], ""))
            for block in entry["blocks"]
            if block["type"] == "tool_use"
        ]
        return cls(entry["blocks"], entry["stop_reason"], Usage(**entry["usage"]), entry["model"], None, calls)
