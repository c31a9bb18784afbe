"""One reply of the model, put together from the events of its stream."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from traindx.brain.claude.faults import ModelFault
from traindx.brain.claude.pricing import Usage

Block = dict[str, Any]
Hearing = Callable[[str, bool], None]
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
        """For the case file."""
        return {
            "blocks": self.blocks,
            "stop_reason": self.stop_reason,
            "usage": vars(self.usage),
            "model": self.model,
            "troubles": {call.id: call.trouble for call in self.calls if call.trouble},
        }

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> Reply:
        """The reply a case file holds."""
        troubles = entry.get("troubles", {})
        calls = [
            ToolCall(block["id"], block["name"], block["input"], troubles.get(block["id"], ""))
            for block in entry["blocks"]
            if block["type"] == "tool_use"
        ]
        return cls(entry["blocks"], entry["stop_reason"], Usage(**entry["usage"]), entry["model"], None, calls)


@dataclass
class _Open:
    """A block under way."""

    start: Block
    text: list[str] = field(default_factory=list)
    signature: str = ""


async def collected(stream: AsyncIterable[Any], heard: Hearing) -> Reply:
    """Read a stream to its end; words are passed on as they come. Raises `ModelFault` when it ends too early."""
    opened: dict[int, _Open] = {}
    usage: dict[str, int] = {}
    model, stop_reason, details, whole = "", "", None, False
    async for event in stream:
        kind = getattr(event, "type", "")
        if kind == "message_start":
            model = str(event.message.model)
            _count(usage, event.message.usage)
        elif kind == "content_block_start":
            opened[event.index] = _Open(_started(event.content_block))
        elif kind == "content_block_delta" and event.index in opened:
            _grow(opened[event.index], event.delta, heard)
        elif kind == "message_delta":
            stop_reason = str(event.delta.stop_reason or stop_reason)
            details = _plain(getattr(event.delta, "stop_details", None)) or details
            _count(usage, event.usage)
        elif kind == "message_stop":
            whole = True
    if not model:
        raise ModelFault("malformed", "the service answered with something that is not the Messages protocol")
    if not whole:
        raise ModelFault("cut", "the answer broke off in the middle")
    blocks, calls = _finished([opened[index] for index in sorted(opened)])
    spent = Usage(
        usage.get("input_tokens", 0),
        usage.get("cache_read_input_tokens", 0),
        usage.get("cache_creation_input_tokens", 0),
        usage.get("output_tokens", 0),
    )
    return Reply(blocks, stop_reason or "end_turn", spent, model, details, calls)


def _started(block: Any) -> Block:
    kind = str(block.type)
    if kind == "tool_use":
        return {"type": kind, "id": str(block.id), "name": str(block.name)}
    if kind == "redacted_thinking":
        return {"type": kind, "data": str(block.data)}
    return {"type": kind, "text": str(getattr(block, "text", "") or getattr(block, "thinking", "") or "")}


def _grow(block: _Open, delta: Any, heard: Hearing) -> None:
    kind = str(delta.type)
    if kind == "signature_delta":
        block.signature += str(delta.signature)
        return
    piece = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}.get(kind)
    said = str(getattr(delta, piece, "") or "") if piece else ""
    block.text.append(said)
    # From Sonnet 5.5 on, what the model says between tool calls arrives as summarised thinking.
    if said and kind != "input_json_delta":
        heard(said, kind == "thinking_delta")


def _finished(opened: list[_Open]) -> tuple[list[Block], list[ToolCall]]:
    blocks: list[Block] = []
    calls: list[ToolCall] = []
    for block in opened:
        kind, said = block.start["type"], "".join(block.text)
        if kind == "tool_use":
            given, trouble = _input(said)
            blocks.append({**block.start, "input": given})
            calls.append(ToolCall(block.start["id"], block.start["name"], given, trouble))
        elif kind == "thinking":
            blocks.append({"type": kind, "thinking": block.start["text"] + said, "signature": block.signature})
        elif kind == "redacted_thinking":
            blocks.append(block.start)
        elif kind == "text" and (block.start["text"] + said).strip():
            # The service refuses an empty text block when it comes back.
            blocks.append({"type": kind, "text": block.start["text"] + said})
    return blocks, calls


def _input(text: str) -> tuple[dict[str, Any], str]:
    if not text.strip():
        return {}, ""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        return {}, f"the input is not JSON: {error}"
    return (given, "") if isinstance(given, dict) else ({}, "the input is not a JSON object")


def _count(usage: dict[str, int], seen: Any) -> None:
    for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"):
        value = getattr(seen, name, None)
        if isinstance(value, int):
            usage[name] = value


def _plain(details: Any) -> Mapping[str, Any] | None:
    if details is None:
        return None
    return {name: getattr(details, name, None) for name in ("category", "explanation")}
