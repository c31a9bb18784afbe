"""One specialist's investigation with a model: leads, conversation, repair, sceptic; and follow-up questions."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

from traindx.brains.interface import Case
from traindx.brains.llm.answer import Answer, grounded, parse_answer, troubles
from traindx.brains.llm.budget import Budget, ClaudeOptions
from traindx.brains.llm.leads import weighed_against
from traindx.brains.llm.loop import Conversation
from traindx.brains.llm.prompt import opening, rendered, system_prompt
from traindx.brains.llm.providers.anthropic import MessagesClient, model_id, price_of
from traindx.brains.llm.reply import ModelFault, ToolCall
from traindx.brains.llm.sceptic import examined
from traindx.brains.llm.submission import submit_tool
from traindx.brains.llm.tool_runner import ToolRunner
from traindx.contract import Event, Fact, RootCause, Signal
from traindx.diagnosis.evidence import DIRECT, verify
from traindx.diagnosis.evidence.fixes import sound
from traindx.diagnosis.findings import Findings
from traindx.diagnosis.wording import fix_for


@dataclass
class Investigation:
    """Under way or finished; a finished one answers questions through `ask`."""

    case: Case
    local: Findings
    client: MessagesClient
    options: ClaudeOptions
    stop: asyncio.Event | None = None
    conversation: Conversation = field(init=False)

    def __post_init__(self) -> None:
        model = model_id(self.options.model, self.case.specialist.definition.model)
        budget = Budget(self.options.sharing(self.case.among), model, price_of(model))
        tool_runner = ToolRunner(self.case, self.case.specialist.name, self.client.redactor, budget)
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
        self.conversation.tell(opening(self.case, self.local))

    @property
    def signals(self) -> list[Signal]:
        """What the local investigator's tools and the model's own calls found."""
        return [*self.local.signals, *self.conversation.tool_runner.signals]

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
        instead = {cause.id: fix_for(self.case.catalog[cause.id], self.facts) for cause in answer.causes}
        answer.causes, dropped = await asyncio.to_thread(
            sound, answer.causes, self.case.context, self.case.toolbelt, instead
        )
        answer.causes, reworded = await grounded(answer.causes, self.case, self.signals, self.facts)
        causes, doubts = await self._doubted(answer.causes)
        answer.causes = causes
        kept, disputes = await weighed_against(self.local, answer, self.case, self.signals)
        for cause in kept.causes:
            self.case.listener(Event(kind="finding", text=cause.issue))
        return self._findings(kept, [*notes, *dropped, *reworded, *doubts, *disputes])

    async def ask(self, question: str) -> str:
        """A follow-up question, with everything that was seen at hand; raises `ModelFault`."""
        self.conversation.budget.renew()
        return await self.conversation.ask(question)

    async def _repaired(self, call: ToolCall, goal: dict[str, object]) -> tuple[Answer, list[str]]:
        """The answer, after one turn to repair what is wrong with it; then whatever of it holds."""
        answer = parse_answer(call.input, self.case, self.facts)
        problems = [*([call.trouble] if call.trouble else []), *answer.problems]
        problems += await troubles(answer.causes, self.case, self.signals)
        if not problems:
            return answer, []
        session = self.conversation
        first = session.cut_short
        try:
            if first:
                raise ModelFault("budget", first)
            session.tell(rendered("repair", problems=problems[:20]), "checked: see below")
            again = parse_answer((await session.until(goal)).input, self.case, self.facts)
        except ModelFault as fault:
            session.cut_short = session.cut_short or fault.reason
            return answer, [f"the answer could not be repaired ({fault.reason}); still open: {problems[0]}"]
        left = [*again.problems, *await troubles(again.causes, self.case, self.signals)]
        if len(left) > len(problems) and not again.causes and answer.causes:
            again, left = answer, problems
        said = f"; {left[0]}" if left else ""
        return again, [f"the first answer had {len(problems)} problem(s), the repaired one {len(left)}{said}"]

    async def _doubted(self, causes: list[RootCause]) -> tuple[list[RootCause], list[str]]:
        """The leading cause put to the sceptic, where it would be reported at 0.9 or more."""
        judged = await asyncio.to_thread(verify, causes, self.case.toolbelt, self.signals)
        if not judged:
            return causes, []
        notes: list[str] = []
        lead = max(range(len(causes)), key=lambda index: judged[index].confidence)
        for index in range(len(causes)):
            if judged[index].confidence < DIRECT:
                continue
            if index == lead:
                causes[index], said = await examined(causes[index], self.case, self.conversation, self.signals)
                notes.append(said)
            else:
                # Only the leading cause has been examined; the others stay below.
                causes[index] = causes[index].model_copy(update={"confidence": round(DIRECT - 0.01, 2)})
        return causes, notes

    def _findings(self, answer: Answer, notes: list[str]) -> Findings:
        session = self.conversation
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
            sections={
                heading: answer.sections.get(heading) or self.local.sections[heading] for heading in self.local.sections
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
