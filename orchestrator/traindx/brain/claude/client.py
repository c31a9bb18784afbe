"""The way to the Messages API: one streamed call at a time, redacted, retried, with every fault as one sentence."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from traindx.brain.claude.budget import Budget
from traindx.brain.claude.faults import ModelFault, fault_from
from traindx.brain.claude.options import ClaudeOptions
from traindx.brain.claude.reply import Hearing, Reply, collected
from traindx.redaction import Redactor

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

SERVICE = "https://api.anthropic.com"
KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")


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

    async def reply(self, request: Mapping[str, Any], budget: Budget, heard: Hearing) -> Reply:
        """The model's answer; what may pass is tried again as long as budget and retries last."""
        cleaned = outgoing(request, self.redactor)
        tried = 0
        while True:
            try:
                return await self._call(_plainly(cleaned) if self.plain else cleaned, heard)
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

    async def _call(self, request: Mapping[str, Any], heard: Hearing) -> Reply:
        try:
            stream = await self._client().messages.create(**request, stream=True)
            async with stream:
                return await collected(stream, heard)
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
