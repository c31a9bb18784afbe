"""A conversation with a model over the tools, until it has said what it was asked for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from traindx.brains.llm.budget import Allowance, Budget, within
from traindx.brains.llm.prompt import rendered, system_blocks, with_breakpoints
from traindx.brains.llm.providers.anthropic import MessagesClient
from traindx.brains.llm.reply import Block, ModelFault, Reply, ToolCall
from traindx.brains.llm.spans import span
from traindx.brains.llm.tool_runner import Shown, ToolRunner
from traindx.contract import Event

CHARACTERS_PER_TOKEN = 3.5
MOST_IDLE = 2
"""turns in a row without a tool call before the last one is called"""


@dataclass
class Conversation:
    """What was said so far, and the means to go on; it outlives the investigation, so that one can ask back."""

    client: MessagesClient
    budget: Budget
    tool_runner: ToolRunner
    system: str
    model: str
    effort: str | None = None
    stop: asyncio.Event | None = None
    max_turns: int | None = None
    messages: list[Block] = field(default_factory=list)
    cut_short: str = ""
    """why it had to end early, where it had to"""
    _unanswered: list[ToolCall] = field(default_factory=list)
    _sent: int = 0

    def tell(self, text: str, about: str = "noted") -> None:
        """Add a message of ours; tool calls that still wait for a result get `about` as theirs."""
        waiting = [{"type": "tool_result", "tool_use_id": call.id, "content": about} for call in self._unanswered]
        self._unanswered = []
        self._add([*waiting, {"type": "text", "text": text}])

    async def until(self, goal: Mapping[str, Any]) -> ToolCall:
        """Go on until the model calls the tool `goal`; raises `ModelFault` when it does not."""
        idle = 0
        why = ""
        while True:
            allowance = self.budget.before_call(self.size)
            why = why or allowance.last or self._why_last(idle)
            try:
                reply = await self._turn(allowance, goal, why)
            except ModelFault as fault:
                if fault.kind == "timeout" and not why and self.budget.seconds_left > 0:
                    why = "the model took too long"
                    continue
                if fault.kind == "too_long" and (self._shorten() or self._shorten(keep=0)):
                    continue
                raise
            submitted = next((call for call in reply.calls if call.name == goal["name"]), None)
            if submitted is not None:
                self.cut_short = why
                return submitted
            if why:
                self.cut_short = why
                return _salvaged(reply, str(goal["name"]))
            idle = 0 if reply.calls else idle + 1
            await self._go_on(reply)

    async def ask(self, question: str) -> str:
        """A follow-up question, answered in words with the tools at hand."""
        self.tell(question, "accepted")
        while True:
            allowance = self.budget.before_call(self.size)
            reply = await self._turn(allowance, None, "")
            if not reply.calls and reply.stop_reason != "pause_turn":
                return reply.text
            if reply.calls:
                await self._work(reply)

    @property
    def size(self) -> int:
        """Tokens that the next request will send, estimated from what the last one counted."""
        if self._sent:
            return self._sent
        return int((len(self.system) + len(json.dumps(self.messages))) / CHARACTERS_PER_TOKEN) + 4000

    def request(self, allowance: Allowance, goal: Mapping[str, Any] | None, *, last: bool = False) -> dict[str, Any]:
        """The next request. On the last turn `goal` is the only tool: newer models refuse a forced choice."""
        tools = [dict(goal)] if goal and last else self.tool_runner.definitions(*([goal] if goal else []))
        asked: dict[str, Any] = {
            "model": self.model,
            "max_tokens": allowance.output_tokens,
            "system": system_blocks(self.system),
            "tools": tools,
            "messages": with_breakpoints(self.messages),
            "thinking": {"type": "adaptive", "display": "summarized"},
        }
        return {**asked, "output_config": {"effort": self.effort}} if self.effort else asked

    def _why_last(self, idle: int) -> str:
        if self.max_turns is not None and self.budget.turns >= self.max_turns - 1:
            return f"all {self.max_turns} turns are used"
        return "it stopped without submitting" if idle >= MOST_IDLE else ""

    async def _turn(self, allowance: Allowance, goal: Mapping[str, Any] | None, why: str) -> Reply:
        if why:
            self.tell(rendered("last_turn", why=why), "not run: this is the last turn")
        reply = self._recalled()
        if reply is None:
            request = self.request(allowance, goal, last=bool(why))
            # The seconds kept in reserve belong to the last turn.
            seconds = allowance.seconds if why or goal is None else allowance.seconds - self.budget.reserve
            with span("chat", self.tool_runner.who):
                reply = await within(self.client.reply(request, self.budget, self._heard), seconds, self.stop)
            self.tool_runner.case.transcript.write("turn", {"who": self.tool_runner.who, **reply.as_json()})
        self.budget.charge(reply.usage)
        self._sent = reply.usage.sent + reply.usage.output
        if reply.stop_reason == "refusal":
            details = reply.stop_details or {}
            category = f" ({details['category']})" if details.get("category") else ""
            raise ModelFault("refusal", f"`{self.model}` refused to answer{category}")
        if reply.blocks:
            self.messages.append({"role": "assistant", "content": reply.blocks})
        self._unanswered = list(reply.calls)
        return reply

    async def _go_on(self, reply: Reply) -> None:
        """Whatever the turn ended with, bring the conversation to where the next one can begin."""
        if reply.stop_reason == "model_context_window_exceeded" and not (self._shorten() or self._shorten(keep=0)):
            raise ModelFault("too_long", f"the conversation is too long for `{self.model}`")
        if reply.calls:
            await self._work(reply)
        elif reply.stop_reason == "max_tokens":
            self.tell("The answer hit the length limit. Be briefer, and continue.")
        elif reply.stop_reason != "pause_turn" or not reply.blocks:
            self.tell(rendered("nudge"))
        if self.size > self.budget.options.context_tokens:
            self._shorten()

    async def _work(self, reply: Reply) -> None:
        calls = [
            ToolCall(call.id, call.name, call.input, call.trouble or "the answer was cut off inside this call")
            if reply.stop_reason == "max_tokens" and call is reply.calls[-1]
            else call
            for call in reply.calls
        ]
        try:
            with span("tools", self.tool_runner.who):
                results = await within(self.tool_runner.run(calls), max(1.0, self.budget.seconds_left), self.stop)
        except (ModelFault, asyncio.CancelledError):
            # One may still ask on, and the service refuses a conversation in which a call has no result.
            self.tell("The tools were interrupted.", "not run: interrupted")
            raise
        self._unanswered = []
        self._add(results)

    def _add(self, blocks: list[Block]) -> None:
        if self._sent:
            self._sent += int(len(json.dumps(blocks)) / CHARACTERS_PER_TOKEN)
        if self.messages and self.messages[-1]["role"] == "user":
            self.messages[-1] = {"role": "user", "content": [*self.messages[-1]["content"], *blocks]}
        else:
            self.messages.append({"role": "user", "content": blocks})

    def _shorten(self, keep: int = 2) -> bool:
        """Shorten all but the latest results; says whether there was anything to shorten."""
        shorter = compacted(self.messages, self.tool_runner.seen, keep)
        if shorter is None:
            return False
        self.messages, self._sent = shorter, 0
        return True

    def _recalled(self) -> Reply | None:
        entry = self.tool_runner.case.transcript.recall("turn", self.tool_runner.who)
        return Reply.from_json(entry) if entry is not None else None

    def _heard(self, words: str, thought: bool) -> None:
        self.tool_runner.case.listener(Event(kind="text", text=words, thought=thought))


def _salvaged(reply: Reply, goal: str) -> ToolCall:
    """The answer of a model that wrote it out instead of submitting it."""
    text = reply.text
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end:
        try:
            given = json.loads(text[start : end + 1])
        except (ValueError, RecursionError):
            given = None
        if isinstance(given, dict):
            return ToolCall("", goal, given)
    raise ModelFault("no_answer", "the model ended without an answer")


WORTH_IT = 600
"""results shorter than this stay as they are"""


def compacted(messages: Sequence[Block], seen: Sequence[Shown], keep: int) -> list[Block] | None:
    """The messages with the tool results before the last `keep` user messages cut down to their citations.

    What the model itself said stays untouched: its thinking is signed. `None` when nothing could be cut.
    """
    mine = [index for index, message in enumerate(messages) if message["role"] == "user"][1:]
    old = set(mine[: len(mine) - keep] if keep else mine)
    said = "\n".join(
        json.dumps(block, ensure_ascii=False)
        for message in messages
        if message["role"] == "assistant"
        for block in message["content"]
    )
    quoted = said.replace('\\"', '"')
    by_number = {f"result {shown.number}: ": shown for shown in seen}
    changed = False
    shorter = []
    for index, message in enumerate(messages):
        if index not in old:
            shorter.append(message)
            continue
        blocks = [_shortened(block, by_number, quoted) for block in message["content"]]
        changed = changed or blocks != message["content"]
        shorter.append({**message, "content": blocks})
    return shorter if changed else None


def _shortened(block: Block, by_number: dict[str, Shown], quoted: str) -> Block:
    content = block.get("content")
    if block["type"] != "tool_result" or not isinstance(content, str) or len(content) < WORTH_IT:
        return block
    shown = next((row for head, row in by_number.items() if content.startswith(head)), None)
    if shown is None:
        return {**block, "content": f"{content[: WORTH_IT // 2]}\n[shortened]"}
    stub = shown.stub(quoted)
    if len(stub) >= len(content):
        return block
    shown.shortened = True
    return {**block, "content": stub}
