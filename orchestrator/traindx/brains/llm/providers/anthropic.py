"""Anthropic's Messages API, and whatever speaks it at `ANTHROPIC_BASE_URL`: the only file that knows a vendor.

One streamed call at a time, redacted, retried, with every fault as one sentence.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import AsyncIterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from traindx.brains.llm.budget import Budget, ClaudeOptions
from traindx.brains.llm.reply import Block, ModelFault, OnText, Price, Reply, ToolCall, Usage
from traindx.redaction import Redactor

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

ALIASES = {
    "opus": "claude-opus-5-5",
    "sonnet": "claude-sonnet-5-5",
    "haiku": "claude-haiku-5-5",
    "fable": "claude-fable-5-2",
}
DEFAULT = "sonnet"
# https://platform.claude.com/docs/en/about-claude/pricing, November 2026. Haiku 5.5 above 100,000 tokens of prompt
# costs five times its entry price: the higher one stands here, so that a budget is never exceeded.
PRICES = (
    ("claude-opus-5-5", Price(4.0, 20.0, 0.2)),
    ("claude-opus-4-1", Price(15.0, 75.0, 1.5)),
    ("claude-opus", Price(5.0, 25.0, 0.5)),
    ("claude-sonnet-5-5", Price(2.0, 10.0, 0.1)),
    ("claude-sonnet-5", Price(2.0, 10.0, 0.2)),
    ("claude-sonnet", Price(3.0, 15.0, 0.3)),
    ("claude-haiku-5-5", Price(0.5, 2.5, 0.05)),
    ("claude-haiku", Price(1.0, 5.0, 0.1)),
    ("claude-fable", Price(10.0, 50.0, 1.0)),
    ("claude-mythos", Price(10.0, 50.0, 1.0)),
)
SERVICE = "https://api.anthropic.com"
KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")


def model_id(chosen: str | None, of_specialist: str) -> str:
    """The full id of the model that is asked: the user's choice, else the specialist's, else the default."""
    name = chosen or (of_specialist if of_specialist != "inherit" else DEFAULT)
    return ALIASES.get(name, name)


def price_of(model: str) -> Price | None:
    """The price, or `None` for a model that is none of Anthropic's: one's own server, where no bill comes."""
    bare = model.rsplit("/", 1)[-1].removeprefix("us.").removeprefix("eu.").removeprefix("anthropic.")
    return next((price for prefix, price in PRICES if bare.startswith(prefix)), None)


def key_is_set() -> bool:
    """Whether the environment holds a key."""
    return any(os.environ.get(name) for name in KEYS)


class MessagesClient:
    """Sends requests. Nothing leaves this machine but through `reply`, and `reply` redacts."""

    def __init__(self, options: ClaudeOptions, redactor: Redactor) -> None:
        self.options = options
        self.redactor = redactor
        self.url = (options.base_url or os.environ.get("ANTHROPIC_BASE_URL") or SERVICE).rstrip("/")
        self.plain = False
        self._sdk: AsyncAnthropic | None = None
        self._making = threading.Lock()

    async def reply(self, request: Mapping[str, Any], budget: Budget, on_text: OnText) -> Reply:
        """The model's answer; what may pass is tried again as long as budget and retries last."""
        cleaned = outgoing(request, self.redactor)
        tried = 0
        while True:
            try:
                return await self._call(_plainly(cleaned) if self.plain else cleaned, on_text)
            except ModelFault as fault:
                if fault.kind == "bad_request" and not self.plain:
                    # Servers other than Anthropic's know neither adaptive thinking nor strict schemas.
                    self.plain = True
                    continue
                wait = fault.retry_after if fault.retry_after is not None else self.options.backoff * 2**tried
                tried += 1
                if not fault.passing or tried > self.options.retries or wait >= budget.seconds_left:
                    raise
            await self.options.wait(wait)

    def warm_up(self) -> None:
        """Load the SDK, which takes a second or two; meant for a thread of its own while the tools are at work."""
        self._client()

    async def close(self) -> None:
        """Close the connections."""
        if self._sdk is not None:
            await self._sdk.close()

    async def _call(self, request: Mapping[str, Any], on_text: OnText) -> Reply:
        try:
            stream = await self._client().messages.create(**request, stream=True)
            async with stream:
                return await collected(stream, on_text)
        except Exception as error:  # noqa: BLE001 - the boundary to the network: every fault becomes a sentence
            raise fault_from(error, self.url, str(request["model"])) from None

    def _client(self) -> AsyncAnthropic:
        with self._making:
            if self._sdk is None:
                import anthropic
                import httpx2

                self._sdk = anthropic.AsyncAnthropic(
                    api_key=self.options.api_key,
                    base_url=self.url,
                    timeout=httpx2.Timeout(self.options.silence, connect=min(10.0, self.options.silence)),
                    max_retries=0,
                )
            return self._sdk


def outgoing(request: Mapping[str, Any], redactor: Redactor) -> dict[str, Any]:
    """The request as it leaves: without secrets. What the model itself said comes back unchanged, as it must."""
    messages = [
        message if message["role"] == "assistant" else redactor.clean_json(message) for message in request["messages"]
    ]
    return {
        **request,
        "system": redactor.clean_json(request["system"]),
        "tools": redactor.clean_json(request["tools"]),
        "messages": messages,
    }


def _plainly(request: Mapping[str, Any]) -> dict[str, Any]:
    """The request without anything that only Anthropic's own models understand."""
    bare = {key: value for key, value in request.items() if key not in {"thinking", "output_config"}}
    bare["tools"] = [{key: value for key, value in tool.items() if key != "strict"} for tool in request["tools"]]
    return bare


@dataclass
class _Open:
    """A block under way."""

    start: Block
    text: list[str] = field(default_factory=list)
    signature: str = ""


async def collected(stream: AsyncIterable[Any], on_text: OnText) -> Reply:
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
            _grow(opened[event.index], event.delta, on_text)
        elif kind == "message_delta":
            stop_reason = str(event.delta.stop_reason or stop_reason)
            details = _plain(getattr(event.delta, "stop_details", None)) or details
            _count(usage, event.usage)
        elif kind == "message_stop":
            whole = True
    if not model:
        raise ModelFault("malformed", "the service answered with something that is not the Messages protocol")
    if not whole:
        raise ModelFault("cut", "the answer was cut off midway")
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


def _grow(block: _Open, delta: Any, on_text: OnText) -> None:
    kind = str(delta.type)
    if kind == "signature_delta":
        block.signature += str(delta.signature)
        return
    piece = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}.get(kind)
    said = str(getattr(delta, piece, "") or "") if piece else ""
    block.text.append(said)
    # From Sonnet 5.5 on, what the model says between tool calls arrives as summarised thinking.
    if said and kind != "input_json_delta":
        on_text(said, kind == "thinking_delta")


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


def fault_from(error: Exception, url: str, model: str) -> ModelFault:
    """The fault behind whatever the SDK or its transport raised."""
    import anthropic
    import httpx2

    if isinstance(error, ModelFault):
        return error
    if isinstance(error, anthropic.APIStatusError):
        return _from_status(error, url, model)
    if isinstance(error, anthropic.APITimeoutError | httpx2.TimeoutException | TimeoutError):
        return ModelFault("timeout", f"no answer from {url} in time")
    if isinstance(error, anthropic.APIConnectionError):
        cause = error.__cause__ or error
        broken = isinstance(cause, httpx2.ReadError | httpx2.RemoteProtocolError | httpx2.WriteError)
        if broken:
            return ModelFault("cut", f"{url} closed the connection before it answered")
        return ModelFault("no_network", f"{url} cannot be reached ({_brief(cause)})")
    if isinstance(error, httpx2.TransportError):
        return ModelFault("cut", f"the answer of {url} was cut off midway ({_brief(error)})")
    if isinstance(error, TypeError) and "authentication method" in str(error):
        return ModelFault("no_key", "no key: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN")
    if isinstance(error, anthropic.CredentialsError):
        return ModelFault("no_key", f"no usable key: {_brief(error)}")
    if isinstance(error, json.JSONDecodeError):
        return ModelFault("malformed", f"{url} answered with something that is not the Messages protocol")
    return ModelFault("malformed", f"{url} answered with something that was not understood ({_brief(error)})")


def _from_status(error: object, url: str, model: str) -> ModelFault:
    code = int(getattr(error, "status_code", 0))
    said = str(getattr(error, "api_message", None) or "")[:200]
    kind = str(getattr(error, "type", None) or "")
    after = _seconds(getattr(error, "response", None))
    if code == 401 or kind == "authentication_error":
        return ModelFault("bad_key", f"the key was refused by {url} (401)")
    if code == 403:
        return ModelFault("forbidden", f"the key may not use `{model}` (403: {said})")
    if code == 404:
        return ModelFault("unknown_model", f"`{model}` is unknown at {url} (404)")
    if code == 413 or (code == 400 and ("too long" in said or "context" in said.lower())):
        return ModelFault("too_long", f"the conversation is too long for `{model}` ({code})")
    if code == 429 or kind == "rate_limit_error":
        wait = f"; it asks to wait {after:g} s" if after is not None else ""
        return ModelFault("rate_limited", f"rate limit at {url} (429){wait}", after)
    # An error inside a stream comes with the status 200 of its beginning; its type says what it is.
    if code == 529 or kind == "overloaded_error":
        return ModelFault("overloaded", f"{url} is overloaded (529)", after)
    if code >= 500 or code == 200:
        return ModelFault("server", f"{url} had an internal error ({code})", after)
    if code in {408, 409}:
        return ModelFault("timeout", f"{url} timed out on the request ({code})", after)
    return ModelFault("bad_request", f"{url} refused the request ({code}: {said})")


def _seconds(response: object) -> float | None:
    headers = getattr(response, "headers", {})
    try:
        return max(0.0, float(headers.get("retry-after", "")))
    except ValueError:
        return None


def _brief(error: BaseException) -> str:
    said = " ".join(str(error).split())[:120]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
