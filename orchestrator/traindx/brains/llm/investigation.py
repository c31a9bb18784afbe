"""One specialist's investigation with a model: briefing, conversation, repair, leads; and follow-up questions."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from functools import cached_property

from traindx.brains.interface import Case
from traindx.brains.llm.answer import Answer, catalog_fix, parse_answer, troubles
from traindx.brains.llm.briefing import Briefing
from traindx.brains.llm.budget import Budget, ClaudeOptions
from traindx.brains.llm.leads import unaddressed, weighed_against
from traindx.brains.llm.loop import Conversation
from traindx.brains.llm.prompt import opening, rendered, system_prompt
from traindx.brains.llm.providers.anthropic import MessagesClient, model_id, price_of
from traindx.brains.llm.reply import ModelFault, ToolCall
from traindx.brains.llm.sentences import MARK, marked, unfounded
from traindx.brains.llm.submission import submit_tool
from traindx.brains.llm.tool_runner import ToolRunner
from traindx.contract import Event, Fact, RootCause, Signal
from traindx.diagnosis.evidence.fixes import sound
from traindx.diagnosis.findings import Findings


@dataclass
class Investigation:
    """Under way or finished; a finished one answers questions through `ask`."""

    case: Case
    local: Findings
    client: MessagesClient
    options: ClaudeOptions
    briefing: Briefing
    stop: asyncio.Event | None = None
    conversation: Conversation = field(init=False)

    def __post_init__(self) -> None:
        model = model_id(self.options.model, self.case.specialist.definition.model)
        budget = Budget(self.options.sharing(self.case.among), model, price_of(model))
        who, told = self.case.specialist.name, self.briefing
        tool_runner = ToolRunner(self.case, who, self.client.redactor, budget, told.results, told.idle)
        self.conversation = Conversation(
            client=self.client,
            budget=budget,
            tool_runner=tool_runner,
            system=system_prompt(self.case),
            model=model,
            effort=self.options.effort or self.case.specialist.definition.effort,
            stop=self.stop,
            max_turns=self.case.specialist.definition.max_turns,
        )
        self.conversation.tell(self._opening)

    @cached_property
    def _opening(self) -> str:
        return opening(self.case, self.local, self.briefing)

    @property
    def signals(self) -> list[Signal]:
        """What the local investigator's tools and the model's own calls found."""
        known = {signal.id for signal in self.local.signals}
        return [*self.local.signals, *(row for row in self.conversation.tool_runner.signals if row.id not in known)]

    @property
    def told(self) -> list[str]:
        """Every text of the run that the model was shown."""
        return [self._opening, *(shown.text for shown in self.conversation.tool_runner.seen)]

    def proves(self, name: str) -> bool:
        """Whether a tool's finding proves this failure mode by itself."""
        mode = self.case.catalog.get(name)
        found = {signal.id for signal in self.signals}
        return mode is not None and any(
            one in found and speaks.tier == "decisive" and speaks.kind == "direct"
            for one, speaks in mode.speaks_for.items()
        )

    def local_confidence(self, name: str) -> float:
        """How sure the local investigator is of a cause."""
        return max((cause.confidence for cause in self.local.causes if cause.id == name), default=0.0)

    @property
    def facts(self) -> dict[str, Fact]:
        """The facts of all signals, for the catalog's wording."""
        facts: dict[str, Fact] = {}
        for signal in reversed(self.signals):
            facts |= signal.facts
        return facts

    async def run(self) -> Findings:
        """To an answer; raises `ModelFault` when the model gives none."""
        goal = submit_tool(self.case)
        answer, notes = await self._repaired(await self.conversation.until(goal), goal)
        instead = {cause.id: catalog_fix(self.case.catalog.get(cause.id), self.facts) for cause in answer.causes}
        answer.causes, dropped = await asyncio.to_thread(
            sound, answer.causes, self.case.context, self.case.toolbelt, instead
        )
        submitted = list(answer.causes)
        answer.causes, unshown = await self._marked(answer.causes)
        kept, disputes = await weighed_against(self.local, answer, self.case, self.signals)
        for cause in kept.causes:
            self.case.listener(Event(kind="finding", text=cause.issue))
        return self._findings(kept, {cause.id for cause in submitted}, [*notes, *dropped, *unshown, *disputes])

    async def ask(self, question: str) -> str:
        """A follow-up question, with everything that was seen at hand; raises `ModelFault`."""
        self.conversation.budget.renew()
        return await self.conversation.ask(question)

    async def _repaired(self, call: ToolCall, goal: dict[str, object]) -> tuple[Answer, list[str]]:
        """The answer, after one turn to repair what is wrong with it; then whatever of it holds."""
        answer = parse_answer(call.input, self.case, self.facts)
        problems = await self._problems(answer, call)
        if not problems:
            return answer, []
        session = self.conversation
        first = session.cut_short
        try:
            if first:
                raise ModelFault("budget", first)
            session.tell(rendered("repair", problems=problems[:20]), "checked: see below")
            repaired = await session.until(goal)
            again = parse_answer(repaired.input, self.case, self.facts)
        except ModelFault as fault:
            session.cut_short = session.cut_short or fault.reason
            return answer, [f"the answer could not be repaired ({fault.reason}); still open: {problems[0]}"]
        left = await self._problems(again, repaired)
        if len(left) > len(problems) and not again.causes and answer.causes:
            again, left = answer, problems
        said = f"; {left[0]}" if left else ""
        return again, [f"the first answer had {len(problems)} problem(s), the repaired one {len(left)}{said}"]

    async def _marked(self, causes: list[RootCause]) -> tuple[list[RootCause], list[str]]:
        """The causes with each number that nothing bears out marked in its sentence; the sentence stays."""
        rows = await unfounded(causes, self.case, self.signals, self.told)
        said = [
            f"`{cause.name}`: nothing that was read bears out {', '.join(number.text for number in strays)} in its"
            f" sentence; marked {MARK}"
            for cause, strays in zip(causes, rows, strict=True)
            if strays
        ]
        kept = [
            cause.model_copy(update={"issue": marked(cause.issue, strays)})
            for cause, strays in zip(causes, rows, strict=True)
        ]
        return kept, said

    async def _problems(self, answer: Answer, call: ToolCall) -> list[str]:
        """What does not hold in an answer, each with its place."""
        found = [*([call.trouble] if call.trouble else []), *answer.problems]
        found += await troubles(answer.causes, self.case, self.signals)
        rows = await unfounded(answer.causes, self.case, self.signals, self.told)
        for index, strays in enumerate(rows):
            if strays:
                numbers = ", ".join(dict.fromkeys(f"{number.text}{number.unit}" for number in strays))
                found.append(
                    f"`causes[{index}].issue`: {numbers} stands in nothing that was read and follows from nothing that"
                    " does: correct it, cite where it stands, or say it without the number"
                )
        return found + unaddressed(self.local, answer, self.case.catalog)

    def _findings(self, answer: Answer, submitted: set[str], notes: list[str]) -> Findings:
        session = self.conversation
        likely = [cause for cause in answer.causes if cause.likely]
        # A report that was written for another verdict is not shown under this one.
        told = answer.status == answer.submitted if not likely else likely[0].id in submitted
        if session.cut_short:
            notes = [f"the investigation was cut short: {session.cut_short}", *notes]
        if not session.budget.priced:
            notes.append(f"the price of `{session.model}` is not known: its cost is not counted")
        return Findings(
            specialist=self.case.specialist.name,
            status="partial" if session.cut_short and answer.causes else answer.status,
            causes=answer.causes,
            signals=self.signals,
            excluded=answer.excluded,
            questions=answer.questions,
            answer=answer.said if told else "",
            disputed=answer.disputed,
            contested=answer.contested,
            checked=True,
            sections={
                heading: (answer.sections.get(heading) if told else "") or self.local.sections[heading]
                for heading in self.local.sections
            },
            notes=notes,
            brain=session.model,
            tokens=session.budget.usage.total,
            cost_usd=round(session.budget.cost_usd, 6),
        )

    def fallen_back(self, reason: str) -> Findings:
        """The local findings, with the reason why they are all there is."""
        budget = self.conversation.budget
        after = f" after {budget.turns} turn(s)" if budget.turns else ""
        return replace(
            self.local,
            notes=[f"the model's investigation failed{after}: {reason}; this is the local answer", *self.local.notes],
            tokens=budget.usage.total,
            cost_usd=round(budget.cost_usd, 6),
        )
