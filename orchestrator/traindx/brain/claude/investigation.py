"""One specialist's investigation with a model: leads, conversation, repair, sceptic; and follow-up questions."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

from traindx.brain.claude.answer import Answer, parse_answer
from traindx.brain.claude.budget import Budget
from traindx.brain.claude.check import grounded, troubles
from traindx.brain.claude.client import MessagesClient
from traindx.brain.claude.conversation import Conversation
from traindx.brain.claude.faults import ModelFault
from traindx.brain.claude.hands import Hands
from traindx.brain.claude.leads import weighed_against
from traindx.brain.claude.options import ClaudeOptions
from traindx.brain.claude.pricing import model_id
from traindx.brain.claude.prompt import opening, rendered, system_prompt
from traindx.brain.claude.reply import ToolCall
from traindx.brain.claude.sceptic import examined
from traindx.brain.claude.submission import submit_tool
from traindx.brain.interface import Case, Findings
from traindx.catalog import fix_for
from traindx.contract import Event, Fact, RootCause, Signal
from traindx.evidence import DIRECT, verify
from traindx.evidence.fixes import sound


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
        budget = Budget(self.options.sharing(self.case.among), model)
        hands = Hands(self.case, self.case.specialist.name, self.client.redactor, budget)
        self.conversation = Conversation(
            client=self.client,
            budget=budget,
            hands=hands,
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
        return [*self.local.signals, *self.conversation.hands.signals]

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
            sound, answer.causes, self.case.context, self.case.belt, instead
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
        talk = self.conversation
        first = talk.cut_short
        try:
            if first:
                raise ModelFault("budget", first)
            talk.tell(rendered("repair", problems=problems[:20]), "checked: see below")
            again = parse_answer((await talk.until(goal)).input, self.case, self.facts)
        except ModelFault as fault:
            talk.cut_short = talk.cut_short or fault.reason
            return answer, [f"the answer could not be repaired ({fault.reason}); still open: {problems[0]}"]
        left = [*again.problems, *await troubles(again.causes, self.case, self.signals)]
        if len(left) > len(problems) and not again.causes and answer.causes:
            again, left = answer, problems
        said = f"; {left[0]}" if left else ""
        return again, [f"the first answer had {len(problems)} problem(s), the repaired one {len(left)}{said}"]

    async def _doubted(self, causes: list[RootCause]) -> tuple[list[RootCause], list[str]]:
        """The leading cause put to the sceptic, where it would be reported at 0.9 or more."""
        judged = await asyncio.to_thread(verify, causes, self.case.belt, self.signals)
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
        talk = self.conversation
        if talk.cut_short:
            notes = [f"the investigation was cut short: {talk.cut_short}", *notes]
        if not talk.budget.priced:
            notes.append(f"the price of `{talk.model}` is not known: its cost is not counted")
        return Findings(
            specialist=self.case.specialist.name,
            status="partial" if talk.cut_short and answer.causes else answer.status,
            causes=answer.causes,
            signals=self.signals,
            excluded=answer.excluded,
            questions=answer.questions,
            sections={
                heading: answer.sections.get(heading) or self.local.sections[heading] for heading in self.local.sections
            },
            notes=notes,
            brain=talk.model,
            tokens=talk.budget.usage.total,
            cost_usd=round(talk.budget.cost_usd, 6),
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
