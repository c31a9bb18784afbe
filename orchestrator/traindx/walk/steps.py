"""The steps between a message and a diagnosis, in the order they are taken."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from traindx import __version__
from traindx.artifacts import Scope
from traindx.brain import Brain, Case, Findings, LocalInvestigator
from traindx.context import gather
from traindx.contract import ContextPackage, Diagnosis, Event, Listener, Provenance
from traindx.diagnosis import conclude, out_of_field
from traindx.evidence import verify
from traindx.project import Project
from traindx.request import Request
from traindx.toolbelt import Belt
from traindx.walk.household import Household

MOST_SPECIALISTS = 3


@dataclass(frozen=True)
class Walk:
    """One request under way."""

    scope: Scope
    project: Project
    belt: Belt
    listener: Listener
    began: float

    async def to_diagnosis(self, message: str, specialist: str | None) -> Diagnosis:
        """Gather, understand, investigate, verify, conclude."""
        household = Household.load(self.project)
        self._tell(f"reading {self.scope.only or self.scope.root.name}")
        context = await asyncio.to_thread(gather, self.belt, self.scope, self.project.profile())
        request = household.understand(message, context, specialist)
        if not request.about_training:
            return out_of_field(request, self._provenance("none"))
        brain: Brain = LocalInvestigator()
        context = context.model_copy(update={"symptoms": list(request.symptoms)})
        findings = await self._investigate(brain, household, request, context)
        self._tell("opening every citation again")
        causes = await asyncio.to_thread(verify, [cause for one in findings for cause in one.causes], self.belt)
        diagnosis = conclude(request, context, findings, causes, self._provenance(brain.name))
        self.listener(Event(kind="done", text=diagnosis.summary))
        return diagnosis

    async def _investigate(
        self, brain: Brain, household: Household, request: Request, context: ContextPackage
    ) -> list[Findings]:
        """Send the ranked specialists, all at once."""
        sent = [household.specialists[row.specialist] for row in request.ranking[:MOST_SPECIALISTS]]
        cases = [Case(request, context, one, self.belt, household.catalog, self.listener) for one in sent]
        return list(await asyncio.gather(*(brain.investigate(case) for case in cases)))

    def _provenance(self, brain: str) -> Provenance:
        return Provenance(
            brain=brain,
            tools=list(self.belt.uses),
            sandbox=self.belt.sandbox,
            seconds=round(time.perf_counter() - self.began, 3),
            version=__version__,
        )

    def _tell(self, stage: str) -> None:
        self.listener(Event(kind="stage", text=stage))
