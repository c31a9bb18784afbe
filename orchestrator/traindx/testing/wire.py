"""Turns as the Messages API writes them: server-sent events, or one JSON object."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from traindx.testing.turns import Block, Turn

Event = tuple[str, dict[str, Any]]
# Deltas come in pieces, as from the service; a piece is short enough that a cut falls inside a word or a value.
PIECE = 24


def message(turn: Turn, number: int, model: str, usage: Mapping[str, int]) -> dict[str, Any]:
    """The whole reply."""
    return {
        "id": f"msg_{number:04d}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [_whole(block, number, index) for index, block in enumerate(turn.blocks)],
        "stop_reason": turn.stops_for,
        "stop_sequence": None,
        "stop_details": turn.stop_details,
        "usage": dict(usage),
    }


def events(turn: Turn, number: int, model: str, usage: Mapping[str, int]) -> Iterator[Event]:
    """The reply as a stream."""
    whole = message(turn, number, model, usage)
    start = {**whole, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield "message_start", {"type": "message_start", "message": start}
    yield "ping", {"type": "ping"}
    for index, block in enumerate(turn.blocks):
        yield from _block_events(_whole(block, number, index), block, index)
    delta = {"stop_reason": turn.stops_for, "stop_sequence": None, "stop_details": turn.stop_details}
    yield "message_delta", {"type": "message_delta", "delta": delta, "usage": {"output_tokens": usage["output_tokens"]}}
    yield "message_stop", {"type": "message_stop"}


def encoded(event: Event) -> bytes:
    """One event on the wire."""
    return f"event: {event[0]}\ndata: {json.dumps(event[1])}\n\n".encode()


def _block_events(whole: Block, scripted: Block, index: int) -> Iterator[Event]:
    kind = whole["type"]
    empty: dict[str, Any] = {"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}}.get(kind, {})
    if kind == "tool_use":
        empty = {"input": {}}
    yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": {**whole, **empty}}
    if kind == "text":
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(whole["text"])]
    elif kind == "thinking":
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(whole["thinking"])]
        deltas.append({"type": "signature_delta", "signature": whole["signature"]})
    else:
        written = scripted.get("input_json", json.dumps(scripted.get("input", {})))
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in _pieces(written)]
    for delta in deltas:
        yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": index}


def _whole(block: Block, number: int, index: int) -> Block:
    if block["type"] != "tool_use":
        return dict(block)
    try:
        given = json.loads(block["input_json"]) if "input_json" in block else block["input"]
    except ValueError:
        given = {}
    return {"type": "tool_use", "id": f"toolu_{number:04d}_{index}", "name": block["name"], "input": given}


def _pieces(text: str) -> list[str]:
    # A long text in a hundred pieces at most: the tests are about the protocol, not about the number of packets.
    size = max(PIECE, len(text) // 100)
    return [text[at : at + size] for at in range(0, len(text), size)]
