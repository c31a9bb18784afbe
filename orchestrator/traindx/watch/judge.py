"""The judgement of a run as it stands: the investigation of `traindx diagnose`, over what was kept of long texts."""

from __future__ import annotations

import asyncio
import resource
import time
from dataclasses import dataclass, replace
from functools import cached_property

from traindx.contract import Diagnosis
from traindx.definitions.project import Project
from traindx.diagnosis.catalog import Catalog, Live, load_catalog
from traindx.pipeline.inputs import OpenRun, open_toolbelt
from traindx.pipeline.session import Session
from traindx.runtime.launch import launch_early
from traindx.runtime.scope import Scope


@dataclass(frozen=True)
class Judgement:
    """A diagnosis and the processor time that it took, the worker's included."""

    diagnosis: Diagnosis
    cost: float


class Judge:
    """Judges one path again and again; without a model, whatever key is set."""

    def __init__(self, scope: Scope, name: str) -> None:
        self._scope, self._name = scope, name
        self._project = Project.around(scope.root)

    def judged(self, stand_ins: tuple[tuple[str, str], ...], message: str = "") -> Judgement:
        """Judge the run as it is; raises `TraindxError` where it cannot be read at all."""
        began = _spent()
        diagnosis = asyncio.run(self._diagnosed(replace(self._scope, stand_ins=stand_ins), message))
        spent = _spent() - began
        # Half of the time that an event waits to be told is that of a worker waking up.
        launch_early()
        return Judgement(diagnosis, spent)

    def live(self, cause: str) -> Live:
        """When a cause is told of a run that goes on."""
        return self._catalog[cause].told if cause in self._catalog else "later"

    @cached_property
    def _catalog(self) -> Catalog:
        own = self._project.failure_modes
        return load_catalog([own] if own else [])

    async def _diagnosed(self, scope: Scope, message: str) -> Diagnosis:
        with open_toolbelt(scope, self._project) as toolbelt:
            toolbelt.start()
            run = OpenRun((self._name,), scope, self._project, toolbelt, (), time.perf_counter())
            async with Session(run, {"brain": "local"}) as session:
                return await session.diagnose(message)


def _spent() -> float:
    """Processor seconds of this process and of the workers that have ended."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, kinds))
