"""The brain behind a key: Claude, or whatever speaks the Messages protocol at `ANTHROPIC_BASE_URL`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType

from traindx.brains.interface import Case
from traindx.brains.llm.briefing import Briefing, briefing
from traindx.brains.llm.budget import Budget, ClaudeOptions
from traindx.brains.llm.injection import SCAN, Orders
from traindx.brains.llm.investigation import Investigation
from traindx.brains.llm.prompt import framed, rendered
from traindx.brains.llm.providers.anthropic import MessagesClient
from traindx.brains.llm.reply import ModelFault
from traindx.brains.llm.sceptic import doubted
from traindx.brains.llm.spans import span
from traindx.brains.local.investigator import LocalInvestigator, reported
from traindx.contract import SETTLED, Event, Signal
from traindx.diagnosis.evidence import verify
from traindx.diagnosis.findings import Findings
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
        self._budgets: list[Budget] = []
        self._briefing = Briefing()

    async def __aenter__(self) -> ClaudeBrain:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.client.close()

    async def investigate(self, cases: Sequence[Case]) -> list[Findings]:
        """One specialist first, and a second where that is not enough; or all at once. Then the sceptics."""
        local, orders = await self._prepared(cases[0])
        if self.options.specialists == "all":
            found = list(await asyncio.gather(*(self._one(case, local, orders) for case in cases)))
        else:
            first, *others = _by_field(cases, local)
            found = [await self._one(replace(first, among=min(2, len(cases))), local, orders)]
            if others and (why := wants_another(found[0], first)):
                second = await self._one(replace(others[0], among=2), local, orders)
                note = f"{others[0].specialist.name} was sent as well: {why}"
                found.append(replace(second, notes=[note, *second.notes]))
        return await doubted(found, self.investigations)

    async def _one(self, case: Case, local: Findings, orders: Sequence[str]) -> Findings:
        """The model's findings, or the local ones with the reason."""
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
        return sum(budget.usage.total for budget in self._budgets)

    @property
    def cost_usd(self) -> float:
        """What all of them cost; models without a known price count nothing."""
        return sum(budget.cost_usd for budget in self._budgets)

    def _opened(self, case: Case, local: Findings) -> Investigation:
        local = reported(local, case)
        case = replace(case, context=case.context.model_copy(update={"signals": local.signals}))
        # What a conversation has shown and shortened is its own.
        own = replace(self._briefing, results=[replace(shown) for shown in self._briefing.results])
        investigation = Investigation(case, local, self.client, self.options, own, self.stop)
        self._budgets.append(investigation.conversation.budget)
        return investigation

    async def _prepared(self, case: Case) -> tuple[Findings, list[str]]:
        """The local findings, and what in the artifacts gives orders."""
        warm = asyncio.create_task(asyncio.to_thread(self.client.warm_up))
        try:
            await asyncio.to_thread(case.toolbelt.specs)
            local = await LocalInvestigator().weigh(case)
            causes = await asyncio.to_thread(verify, local.causes, case.toolbelt, local.signals)
            local = replace(local, causes=causes, checked=True)
            result = await asyncio.to_thread(case.toolbelt.run, SCAN)
            self._briefing = await asyncio.to_thread(briefing, case, self.redactor)
        finally:
            # A broken SDK is told where it is needed.
            await asyncio.gather(warm, return_exceptions=True)
        signals: list[Signal] = result.signals if result.status == "ok" else []
        notes = [f"the search for injected instructions failed: {result.reason}"] if result.status == "failed" else []
        for signal in signals:
            case.listener(Event(kind="finding", text=signal.claim))
            orders = Orders.model_validate(result.output)
            first = orders.places[0]
            notes.append(f'{signal.claim}; the first: {first.source}, {first.locator}: "{first.quote[:100]}"')
        return replace(local, signals=[*local.signals, *signals]), notes


SPANS = 0.8
"""of the first specialist's score: a second one this close shows that the request is about both fields"""


def wants_another(found: Findings, case: Case) -> str:
    """Why one specialist's answer is not enough; empty where it is."""
    if found.brain == "local":
        return ""
    if found.disputed:
        return f"{found.specialist} disagrees with the proven `{found.disputed}`"
    likely = [cause for cause in found.causes if cause.likely]
    if found.status != "healthy" and (not likely or likely[0].confidence < SETTLED):
        return f"{found.specialist} is not sure of a cause"
    ranking = case.request.ranking
    if len(ranking) > 1 and ranking[1].score >= SPANS * ranking[0].score > 0:
        return "the request is about both fields"
    return ""


def _by_field(cases: Sequence[Case], local: Findings) -> list[Case]:
    """The cases, that of the specialist whose field the surest local cause lies in first."""
    field = next((cause.specialist for cause in local.causes if cause.likely), "")
    return sorted(cases, key=lambda case: case.specialist.name != field)
