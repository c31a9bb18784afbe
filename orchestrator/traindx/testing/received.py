"""A request as the server got it, with the questions tests ask of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Received:
    """One request: its path, headers and JSON body, and when it came (`time.monotonic`)."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    at: float

    @property
    def model(self) -> str:
        """The model asked for."""
        return str(self.body.get("model", ""))

    @property
    def system(self) -> str:
        """The system prompt as one text."""
        return _text(self.body.get("system", ""))

    @property
    def messages(self) -> list[Mapping[str, Any]]:
        """The conversation so far."""
        return list(self.body.get("messages", []))

    @property
    def tools(self) -> list[str]:
        """The names of the tools on offer."""
        return [str(tool.get("name")) for tool in self.body.get("tools", [])]

    @property
    def key(self) -> str:
        """The credential, however it was sent."""
        bearer = self.headers.get("authorization", "").removeprefix("Bearer ")
        return bearer or self.headers.get("x-api-key", "")

    @property
    def text(self) -> str:
        """Everything that was sent, as JSON."""
        return json.dumps(self.body, ensure_ascii=False)

    @property
    def last_words(self) -> str:
        """The text of the latest message, tool results included."""
        return _text(self.messages[-1].get("content", "")) if self.messages else ""

    def results(self) -> dict[str, str]:
        """The text of every tool result in the conversation, by the id of its call."""
        blocks = [block for message in self.messages for block in _blocks(message.get("content"))]
        return {str(b["tool_use_id"]): _text(b.get("content", "")) for b in blocks if b.get("type") == "tool_result"}


def sent_by(words: str) -> Callable[[Received], bool]:
    """For `ScriptedMessagesServer.script(when=…)`: requests whose system prompt holds these words."""
    return lambda request: words in request.system


def segments(body: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """The request block by block in the order the service caches it, each with whether it is a cache breakpoint."""
    system = body.get("system") or []
    named = [("tool", tool) for tool in body.get("tools", [])]
    named += [("system", block) for block in _blocks(system)]
    for message in body.get("messages", []):
        named += [(str(message.get("role")), block) for block in _blocks(message.get("content"))]
    found = []
    for role, block in named:
        bare = {key: value for key, value in block.items() if key != "cache_control"}
        found.append((f"{role}{json.dumps(bare, sort_keys=True)}", "cache_control" in block))
    if body.get("cache_control") and found:
        found[-1] = (found[-1][0], True)
    return found


def _blocks(content: Any) -> list[Mapping[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or [])


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = (block.get("text") or _text(block.get("content", "")) for block in content or [])
    return "\n".join(part for part in parts if part)
