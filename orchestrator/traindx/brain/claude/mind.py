"""The mind behind a key: Claude, or whatever speaks the Messages protocol at `ANTHROPIC_BASE_URL`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import TracebackType

from traindx.brain.claude.budget import Budget
from traindx.brain.claude.client import MessagesClient
from traindx.brain.claude.faults import ModelFault
from traindx.brain.claude.framing import framed
from traindx.brain.claude.investigation import Investigation
from traindx.brain.claude.options import ClaudeOptions
from traindx.brain.claude.prompt import rendered
from traindx.brain.claude.scan import SCAN, Orders
from traindx.brain.claude.spans import span
from traindx.brain.interface import Case, Findings
from traindx.brain.local import LocalInvestigator
from traindx.contract import Event, Signal
from traindx.redaction import Redactor


class ClaudeBrain:
    """The local investigator first, for the leads; then the model; whatever goes wrong, an answer comes out.

    `investigations` holds every finished investigation by specialist: `await brain.investigations[name].ask(…)`.
    """

    name = "claude"

    def __init__(self, options: ClaudeOptions | None = None, stop: asyncio.Event | None = None) -> None:
        self.options = options or ClaudeOptions()
        self.stop = stop
        self.redactor = Redactor(user_names=self.options.mask_user_names)
        self.client = MessagesClient(self.options, self.redactor)
        self.investigations: dict[str, Investigation] = {}
        self._purses: list[Budget] = []

    async def __aenter__(self) -> ClaudeBrain:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.client.close()

    async def investigate(self, case: Case) -> Findings:
        """The model's findings, or the local ones with the reason."""
        local, orders = await self._prepared(case)
        investigation = self._opened(case, local)
        self.investigations[case.specialist.name] = investigation
        try:
            if self.stop is not None and self.stop.is_set():
                raise ModelFault("interrupted", "interrupted")
            with span("agent", case.specialist.name):
                found = await investigation.run()
        except ModelFault as fault:
            found = investigation.fallen_back(fault.reason)
        except Exception as error:  # noqa: BLE001 - whatever a model's words do to our code, an answer comes out
            found = investigation.fallen_back(f"internal error: {type(error).__name__}: {error}"[:300])
        return replace(found, notes=[*orders, *found.notes])

    async def prepared(self, case: Case) -> Investigation:
        """An investigation before its first call: what would be sent is `conversation.request(…)`."""
        local, _ = await self._prepared(case)
        return self._opened(case, local)

    async def rejoined(self, case: Case, earlier: str) -> None:
        """Open an investigation that knows how an earlier one ended and what was said about it; nothing is sent."""
        investigation = await self.prepared(case)
        investigation.conversation.tell(rendered("rejoined", earlier=framed(earlier, "the earlier conversation")))
        self.investigations[case.specialist.name] = investigation

    @property
    def tokens(self) -> int:
        """Every token of every investigation and question so far."""
        return sum(purse.usage.total for purse in self._purses)

    @property
    def cost_usd(self) -> float:
        """What all of them cost; models without a known price count nothing."""
        return sum(purse.cost_usd for purse in self._purses)

    def _opened(self, case: Case, local: Findings) -> Investigation:
        case = replace(case, context=case.context.model_copy(update={"signals": local.signals}))
        investigation = Investigation(case, local, self.client, self.options, self.stop)
        self._purses.append(investigation.conversation.budget)
        return investigation

    async def _prepared(self, case: Case) -> tuple[Findings, list[str]]:
        """The local findings, and what in the artifacts gives orders."""
        warm = asyncio.create_task(asyncio.to_thread(self.client.warm_up))
        try:
            await asyncio.to_thread(case.belt.specs)
            local = await LocalInvestigator().investigate(case)
            result = await asyncio.to_thread(case.belt.call, SCAN)
        finally:
            # A broken SDK is told where it is needed.
            await asyncio.gather(warm, return_exceptions=True)
        signals: list[Signal] = result.signals if result.status == "ok" else []
        notes = [f"the artifacts were not searched for orders: {result.reason}"] if result.status == "failed" else []
        for signal in signals:
            case.listener(Event(kind="finding", text=signal.claim))
            orders = Orders.model_validate(result.output)
            first = orders.places[0]
            notes.append(f'{signal.claim}; the first: {first.source}, {first.locator}: "{first.quote[:100]}"')
        return replace(local, signals=[*local.signals, *signals]), notes
