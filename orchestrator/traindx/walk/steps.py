"""The steps between a message and a diagnosis, in the order they are taken."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from traindx import __version__
from traindx.artifacts import Scope
from traindx.brain import Brain, Case, Findings, LocalInvestigator
from traindx.context import gather
from traindx.contract import ContextPackage, Diagnosis, Event, Listener, Provenance
from traindx.diagnosis import conclude, out_of_field, several_runs
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
    remarks: Sequence[str] = ()

    async def to_one_run(self) -> Walk | None:
        """Where the folder holds several runs and only one of them failed: the walk through that one."""
        context = await self._context()
        failed = [row for row in context.runs if row.failed]
        if len(context.runs) < 2 or len(failed) != 1:
            return None
        path = failed[0].path
        said = f"of {len(context.runs)} runs only `{path}` failed: that one was looked at"
        scope = Scope(self.scope.root / path)
        return replace(self, scope=scope, project=Project.around(scope.root), remarks=[said, *self.remarks])

    def with_belt(self, belt: Belt) -> Walk:
        """The same walk with another toolbelt."""
        return replace(self, belt=belt)

    async def to_diagnosis(self, message: str, specialist: str | None) -> Diagnosis:
        """Gather, understand, investigate, verify, conclude."""
        household = Household.load(self.project)
        context = await self._context()
        if len(context.runs) > 1:
            return several_runs(context, self.scope.root, self._provenance("none"))
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

    async def _context(self) -> ContextPackage:
        self._tell(f"reading {self.scope.name}")
        return await asyncio.to_thread(gather, self.belt, self.scope, self.project.profile(), self.remarks)

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
