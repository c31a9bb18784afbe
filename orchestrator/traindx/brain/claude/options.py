"""What a user may choose about the model, and what an investigation may cost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Literal

Effort = Literal["low", "medium", "high", "xhigh", "max"]
EFFORTS: tuple[Effort, ...] = ("low", "medium", "high", "xhigh", "max")


@dataclass(frozen=True)
class ClaudeOptions:
    """Model, budgets and the manners of the connection; the defaults suit one diagnosis."""

    model: str | None = None
    """an alias (`opus`, `sonnet`, `haiku`, `fable`) or a full id; the specialist's own when `None`"""
    effort: Effort | None = None
    max_seconds: float = 300.0
    max_tokens: int = 1_000_000
    """input and output of every call, summed; what the cache gives back counts a tenth"""
    max_tool_calls: int = 40
    max_usd: float | None = 1.0
    """for all specialists of a diagnosis together"""
    base_url: str | None = None
    """`ANTHROPIC_BASE_URL` when `None`"""
    api_key: str | None = None
    """`ANTHROPIC_API_KEY` or `ANTHROPIC_AUTH_TOKEN` when `None`"""
    mask_user_names: bool = False
    silence: float = 90.0
    """seconds without a byte from the service after which a call is given up"""
    retries: int = 2
    backoff: float = 0.5
    """seconds before the first retry where the service names none; doubled each time"""
    wait: Callable[[float], Awaitable[None]] = asyncio.sleep
    context_tokens: int = 150_000
    """from here on older results are shortened"""
    result_characters: int = 12_000
    """of a longer tool result the head and the tail are shown"""
    sceptic_calls: int = 8

    def sharing(self, among: int) -> ClaudeOptions:
        """The same with an equal part of the dollars."""
        return replace(self, max_usd=self.max_usd / among) if self.max_usd is not None and among > 1 else self
