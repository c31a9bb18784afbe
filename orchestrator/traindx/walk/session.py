"""A run that stays open: diagnose it, then go on asking."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from traindx.brain import Brain, Case, LocalInvestigator
from traindx.casefile import CaseFile, default_place, read_case
from traindx.contract import ContextPackage, Diagnosis
from traindx.errors import TraindxError, UsageError
from traindx.walk.choices import Choices
from traindx.walk.minds import claude, wants_claude
from traindx.walk.opening import open_belt
from traindx.walk.steps import Walk

if TYPE_CHECKING:
    from traindx.brain.claude import ClaudeBrain


@dataclass
class Session:
    """An open run with its tools and its mind; `diagnosis` is the latest, `case_file` where it is written down."""

    walk: Walk
    choices: Choices
    paths: Sequence[str]
    held: contextlib.AsyncExitStack
    stop: asyncio.Event | None = None
    brain: Brain = field(default_factory=LocalInvestigator)
    claude: ClaudeBrain | None = None
    """the brain, where it is one with a model"""
    diagnosis: Diagnosis | None = None
    case_file: Path | None = None
    notes: list[str] = field(default_factory=list)

    async def begin(self) -> None:
        """Choose the mind and open the case file."""
        if wants_claude(self.choices):
            self.brain = self.claude = await self.held.enter_async_context(claude(self.choices, self.stop))
        self.walk = replace(self.walk, notes=self._said)
        journal = self._journal()
        if journal is not None:
            self.held.callback(journal.close)
            self.walk = replace(self.walk, journal=journal)
            self.case_file = journal.path
        chosen = await self.walk.to_one_run()
        if chosen is not None:
            belt = self.held.enter_context(open_belt(chosen.scope, chosen.project, self.walk.listener))
            self.walk = chosen.with_belt(belt)

    async def diagnose(self, message: str = "", specialist: str | None = None) -> Diagnosis:
        """The diagnosis for this message, by the specialists it asks for or by the one named here."""
        asked = {"message": message, "paths": list(self.paths), "brain": self.brain.name}
        self.walk.journal.write("request", asked)
        sent = specialist or self.choices.get("specialist")
        self.diagnosis = await self.walk.to_diagnosis(message, sent, self.brain)
        return self.diagnosis

    async def cases(self, message: str = "") -> list[Case] | Diagnosis:
        """What the specialists would be given."""
        return await self.walk.to_cases(message, self.choices.get("specialist"))

    async def context(self) -> ContextPackage:
        """What the run left behind."""
        return await self.walk.context()

    async def rejoin(self, message: str, diagnosis: Diagnosis, said: str) -> None:
        """Take up an earlier conversation about this run, so that its lead specialist can be asked; nothing is sent."""
        self.diagnosis = diagnosis
        led = next(iter(diagnosis.request.specialists), None)
        cases = await self.walk.to_cases(message, led or self.choices.get("specialist"))
        if self.claude is not None and not isinstance(cases, Diagnosis):
            summary = diagnosis.model_dump_json(include={"status", "summary", "root_causes", "excluded", "questions"})
            await self.claude.rejoined(cases[0], f"{summary}\n\n{said}")

    async def ask(self, question: str, specialist: str | None = None) -> str:
        """A follow-up question to a specialist of the latest diagnosis; raises `TraindxError` where nobody answers."""
        from traindx.brain.claude.faults import ModelFault

        asked = self.claude.investigations if self.claude is not None else {}
        name = specialist or next(iter(asked), "")
        if name not in asked:
            raise UsageError("there is no investigation to ask about: diagnose with a model first")
        try:
            return await asked[name].ask(question)
        except ModelFault as fault:
            raise TraindxError(fault.reason) from None

    def _said(self) -> list[str]:
        masked = self.claude.redactor.said() if self.claude is not None else ""
        return [*([masked] if masked else []), *self.notes]

    def _journal(self) -> CaseFile | None:
        wanted, resumed = self.choices.get("save_case"), self.choices.get("resume_case")
        earlier = read_case(Path(resumed)) if resumed else None
        if wanted or earlier is not None:
            return CaseFile(Path(wanted) if wanted else earlier.path if earlier else Path(), earlier)
        if self.claude is None:
            return None
        try:
            return CaseFile(default_place(self.walk.scope.name))
        except UsageError as error:
            self.notes.append(f"no case file was kept: {error}")
            return None
