"""The walk of one request, from message and path to diagnosis."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from traindx import __version__
from traindx.agents import Specialist, load_specialists
from traindx.artifacts import Scope
from traindx.brain import Brain, Case, LocalInvestigator
from traindx.brain.interface import Listener, unheard
from traindx.catalog import FailureMode, load_catalog
from traindx.context import gather
from traindx.contract import ContextPackage, Diagnosis, Event, Provenance
from traindx.diagnosis import conclude, out_of_field
from traindx.errors import UnknownName
from traindx.evidence import verify
from traindx.project import Project
from traindx.request import AgentBrief, Ranked, Request, understand
from traindx.toolbelt import Belt, tool_names

MOST_SPECIALISTS = 3


def diagnose(
    path: str | Path,
    message: str = "",
    *,
    specialist: str | None = None,
    listener: Listener = unheard,
) -> Diagnosis:
    """Find out why the run in `path` went wrong.

    Args:
        path: the run folder, or one file of it. It is only ever read.
        message: what you see, in your own words; may be empty.
        specialist: send this one instead of those the request asks for.
        listener: called with an `Event` as the investigation goes on.

    Returns:
        The diagnosis; `diagnosis.model_dump_json()` is the JSON contract.

    Raises:
        TraindxError: the path cannot be read, or a definition file is wrong. The message is one clear sentence.
    """
    return _to_the_end(adiagnose(path, message, specialist=specialist, listener=listener))


async def adiagnose(
    path: str | Path,
    message: str = "",
    *,
    specialist: str | None = None,
    listener: Listener = unheard,
) -> Diagnosis:
    """`diagnose` for programs that already run an event loop; cancelling it ends the worker."""
    began = time.perf_counter()
    scope = Scope.of(path)
    project = Project.around(scope.root)
    with open_belt(scope, project) as belt:
        belt.start()
        household = Household.load(project)
        listener(Event(kind="stage", text=f"reading {scope.only or scope.root.name}"))
        context = await asyncio.to_thread(gather, belt, scope, project.profile())
        request = household.understand(message, context, specialist)
        if not request.about_training:
            return out_of_field(request, _provenance(belt, "none", began))
        context = context.model_copy(update={"symptoms": list(request.symptoms)})
        brain: Brain = LocalInvestigator()
        findings = await asyncio.gather(
            *(
                brain.investigate(
                    Case(
                        request,
                        context,
                        household.specialists[row.specialist],
                        belt,
                        household.catalog,
                        listener,
                    )
                )
                for row in request.ranking[:MOST_SPECIALISTS]
            )
        )
        listener(Event(kind="stage", text="opening every citation again"))
        causes = [cause for one in findings for cause in one.causes]
        verified = await asyncio.to_thread(verify, causes, belt)
        diagnosis = conclude(request, context, findings, verified, _provenance(belt, brain.name, began))
        listener(Event(kind="done", text=diagnosis.summary))
        return diagnosis


def gather_context(path: str | Path, message: str = "") -> ContextPackage:
    """The context package of a run, with the symptoms that the message and the artifacts show."""
    scope = Scope.of(path)
    project = Project.around(scope.root)
    with open_belt(scope, project) as belt:
        context = gather(belt, scope, project.profile())
    return context.model_copy(update={"symptoms": list(understand(message, context).symptoms)})


@dataclass(frozen=True)
class Household:
    """The definitions a walk needs: who can be sent, and what can be wrong."""

    specialists: Mapping[str, Specialist]
    catalog: Mapping[str, FailureMode] = field(default_factory=load_catalog)

    @classmethod
    def load(cls, project: Project) -> Household:
        """Ours and the project's own."""
        tools = tool_names([project.tools] if project.tools else [])
        return cls(load_specialists(tools, [project.agents] if project.agents else []))

    def understand(self, message: str, context: ContextPackage, specialist: str | None) -> Request:
        """The request, with the specialist the user insists on in the lead."""
        if specialist is not None and specialist not in self.specialists:
            raise UnknownName("specialist", specialist, self.specialists)
        briefs = [AgentBrief(one.name, one.definition.description) for one in self.specialists.values()]
        request = understand(message, context, briefs)
        if specialist is None:
            return request
        return replace(request, about_training=True, ranking=(Ranked(specialist, 1.0, "you asked for it"),))


def open_belt(scope: Scope, project: Project) -> Belt:
    """The toolbelt for a run: our tools and the project's own."""
    return Belt(scope, [project.tools] if project.tools else [])


def _provenance(belt: Belt, brain: str, began: float) -> Provenance:
    return Provenance(
        brain=brain,
        tools=list(belt.uses),
        sandbox=belt.sandbox,
        seconds=round(time.perf_counter() - began, 3),
        version=__version__,
    )


def _to_the_end(walk: Coroutine[Any, Any, Diagnosis]) -> Diagnosis:
    """Run a coroutine from synchronous code, also where an event loop is running already (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(walk)
    answer: list[Diagnosis] = []
    trouble: list[BaseException] = []

    def in_its_own_loop() -> None:
        try:
            answer.append(asyncio.run(walk))
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that asked
            trouble.append(error)

    thread = threading.Thread(target=in_its_own_loop)
    thread.start()
    thread.join()
    if trouble:
        raise trouble[0]
    return answer[0]
