"""The steps between a message and a diagnosis, in the order they are taken."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from traindx import __version__
from traindx.artifacts import Scope
from traindx.brain import Brain, Case, Findings, Journal, Unwritten
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
    journal: Journal = field(default_factory=Unwritten)
    notes: Callable[[], Sequence[str]] = tuple
    """what is to be said about the whole walk, asked at its end"""

    async def to_one_run(self) -> Walk | None:
        """Where the folder holds several runs and only one of them failed: the walk through that one."""
        context = await self.context()
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

    async def to_cases(self, message: str, specialist: str | None) -> list[Case] | Diagnosis:
        """Gather and understand: a case for each specialist that is sent, or the answer that needs none of them."""
        household = Household.load(self.project)
        context = await self.context()
        if len(context.runs) > 1:
            return several_runs(context, self.scope.root, self._provenance("none"))
        request = household.understand(message, context, specialist)
        if not request.about_training:
            return out_of_field(request, self._provenance("none"))
        context = context.model_copy(update={"symptoms": list(request.symptoms)})
        sent = [household.specialists[row.specialist] for row in request.ranking[:MOST_SPECIALISTS]]
        self.journal.write("context", {"context": context.model_dump(mode="json")})
        return [
            Case(request, context, one, self.belt, household.catalog, self.listener, self.journal, len(sent))
            for one in sent
        ]

    async def to_diagnosis(self, message: str, specialist: str | None, brain: Brain) -> Diagnosis:
        """Gather, understand, investigate, verify, conclude."""
        cases = await self.to_cases(message, specialist)
        if isinstance(cases, Diagnosis):
            return self._done(cases)
        findings = list(await asyncio.gather(*(brain.investigate(case) for case in cases)))
        return self._done(await self._concluded(cases[0].request, cases[0].context, findings, brain.name))

    async def _concluded(
        self, request: Request, context: ContextPackage, findings: list[Findings], brain: str
    ) -> Diagnosis:
        self._tell("opening every citation again")
        signals = [signal for one in findings for signal in one.signals]
        named = [cause for one in findings for cause in one.causes]
        causes = await asyncio.to_thread(verify, named, self.belt, signals)
        name = brain if any(one.brain != "local" for one in findings) else "local"
        return conclude(request, context, findings, causes, self._provenance(name))

    def _done(self, diagnosis: Diagnosis) -> Diagnosis:
        self.journal.write("diagnosis", {"diagnosis": diagnosis.model_dump(mode="json")})
        self.listener(Event(kind="done", text=diagnosis.summary, diagnosis=diagnosis))
        return diagnosis

    async def context(self) -> ContextPackage:
        """What the run left behind."""
        self._tell(f"reading {self.scope.name}")
        return await asyncio.to_thread(gather, self.belt, self.scope, self.project.profile(), self.remarks)

    def _provenance(self, brain: str) -> Provenance:
        return Provenance(
            brain=brain,
            # Specialists work at once: in the order of their names the list is the same every time.
            tools=sorted(self.belt.uses, key=lambda use: use.tool),
            sandbox=self.belt.sandbox,
            seconds=round(time.perf_counter() - self.began, 3),
            version=__version__,
            notes=list(self.notes()),
        )

    def _tell(self, stage: str) -> None:
        self.listener(Event(kind="stage", text=stage))
