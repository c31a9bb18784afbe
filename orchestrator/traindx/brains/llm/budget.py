"""What a user may choose about the model, and what an investigation may cost."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from traindx.brains.llm.reply import FREE, MILLION, ModelFault, Price, Usage
from traindx.definitions.choices import Effort, Specialists


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
    specialists: Specialists = "needed"
    """`needed`: one first, a second where that is not enough; `all`: those the request asks for, at once"""

    def sharing(self, among: int) -> ClaudeOptions:
        """The same with an equal part of the dollars."""
        return replace(self, max_usd=self.max_usd / among) if self.max_usd is not None and among > 1 else self


LONGEST_ANSWER = 16_000
SHORTEST_ANSWER = 1_500
"""output tokens that a submitted diagnosis needs at least"""
CACHED_COUNTS = 0.1


@dataclass(frozen=True)
class Allowance:
    """What the next call may use; `last` says why it has to be the last one, and is empty while it has not."""

    seconds: float
    output_tokens: int
    last: str = ""


class Budget:
    """The budget of one specialist."""

    def __init__(
        self, options: ClaudeOptions, model: str, price: Price | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.options, self.model = options, model
        self.usage = Usage()
        self.tool_calls = 0
        self.turns = 0
        self._clock = clock
        self._began = clock()
        self.price = price
        self._counted = 0.0

    @property
    def seconds_left(self) -> float:
        """Until the wall clock ends the investigation."""
        return self._began + self.options.max_seconds - self._clock()

    @property
    def calls_left(self) -> int:
        """Tool calls that may still be made."""
        return max(0, self.options.max_tool_calls - self.tool_calls)

    @property
    def cost_usd(self) -> float:
        """Spent so far; 0 for a model without a known price."""
        return (self.price or FREE).of(self.usage)

    @property
    def priced(self) -> bool:
        """Whether the model's price is known."""
        return self.price is not None

    def charge(self, usage: Usage) -> None:
        """Book a call."""
        self.turns += 1
        self.usage += usage
        self._counted += usage.input + usage.cache_write + usage.output + CACHED_COUNTS * usage.cache_read

    def left(self) -> ClaudeOptions:
        """What is left, as the options of another budget."""
        usd = self.options.max_usd
        return replace(
            self.options,
            max_seconds=max(0.0, self.seconds_left),
            max_tokens=max(0, int(self.options.max_tokens - self._counted)),
            max_usd=None if usd is None else max(0.0, usd - self.cost_usd),
        )

    def renew(self) -> None:
        """Fresh time, tokens and tool calls for a question after the investigation; dollars keep adding up."""
        self._began, self.tool_calls, self._counted = self._clock(), 0, 0.0

    def absorb(self, other: Budget) -> None:
        """Book everything another budget has spent."""
        self.usage += other.usage
        self.turns += other.turns
        self._counted += other._counted

    def before_call(self, input_tokens: int) -> Allowance:
        """What a call that sends so many tokens may use; raises `ModelFault` when not even an answer fits."""
        if self.seconds_left <= 0:
            raise ModelFault("budget", f"out of time ({self.options.max_seconds:g} s)")
        tokens_left = self.options.max_tokens - self._counted
        affordable = self._affordable(input_tokens)
        if min(tokens_left - input_tokens, affordable) < SHORTEST_ANSWER:
            what = "tokens" if tokens_left - input_tokens < affordable else f"${self.options.max_usd:g}"
            raise ModelFault("budget", f"the budget is spent ({what})")
        output = int(min(LONGEST_ANSWER, tokens_left - input_tokens, affordable))
        return Allowance(self.seconds_left, output, self._why_last(input_tokens, tokens_left, affordable))

    def before_tools(self, wanted: int) -> int:
        """How many of the wanted tool calls may be made; they are booked."""
        granted = min(wanted, self.calls_left)
        self.tool_calls += granted
        return granted

    @property
    def reserve(self) -> float:
        """Seconds kept for the last turn."""
        return min(45.0, 0.25 * self.options.max_seconds)

    def _why_last(self, input_tokens: int, tokens_left: float, affordable: float) -> str:
        if self.seconds_left <= self.reserve:
            return "time is nearly up"
        if self.calls_left == 0:
            return f"all {self.options.max_tool_calls} tool calls are used"
        # After this call another one, as long again, must still fit; if it does not, this is the last.
        if tokens_left < 2 * input_tokens + 2 * LONGEST_ANSWER:
            return "the tokens are nearly used up"
        if affordable < LONGEST_ANSWER + self._tokens_worth(input_tokens):
            return "the dollar budget is nearly used up"
        return ""

    def _tokens_worth(self, input_tokens: int) -> float:
        """Output tokens that cost as much as sending the conversation once more."""
        price = self.price
        return 0.0 if price is None else input_tokens * 1.25 * price.input / price.output

    def _affordable(self, input_tokens: int) -> float:
        """Output tokens that the remaining dollars buy, after the input is paid at its full price."""
        if self.options.max_usd is None or self.price is None:
            return float(MILLION)
        left = self.options.max_usd - self.cost_usd - input_tokens * 1.25 * self.price.input / MILLION
        return max(0.0, left * MILLION / self.price.output)


Result = TypeVar("Result")


async def within(work: Coroutine[Any, Any, Result], seconds: float, stop: asyncio.Event | None = None) -> Result:
    """The result of `work`; raises `ModelFault` when the time is over or `stop` is set, and ends the work."""
    task = asyncio.ensure_future(work)
    halt = asyncio.ensure_future(stop.wait()) if stop is not None else None
    try:
        await asyncio.wait(
            {task, halt} if halt else {task}, timeout=max(0.0, seconds), return_when=asyncio.FIRST_COMPLETED
        )
        if task.done():
            return task.result()
        if halt is not None and halt.done():
            raise ModelFault("interrupted", "interrupted")
        raise ModelFault("timeout", f"no answer within the {seconds:.3g} s that remained")
    finally:
        for one in (task, halt):
            if one is not None and not one.done():
                one.cancel()
                with contextlib.suppress(asyncio.CancelledError, Exception):
                    await one
