"""The walk of one request, from message and path to diagnosis: the Python API."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traindx.artifacts.scope import Scope
from traindx.contract import ContextPackage, Diagnosis, Listener, unheard
from traindx.project import Project
from traindx.toolbelt import Belt

if TYPE_CHECKING:
    from traindx.walk.household import Household

__all__ = ["adiagnose", "diagnose", "gather_context", "load_household", "open_belt"]


def diagnose(
    path: str | Path, message: str = "", *, specialist: str | None = None, listener: Listener = unheard
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
    path: str | Path, message: str = "", *, specialist: str | None = None, listener: Listener = unheard
) -> Diagnosis:
    """`diagnose` for programs that already run an event loop; cancelling it ends the worker."""
    began = time.perf_counter()
    scope = Scope.of(path)
    project = Project.around(scope.root)
    with open_belt(scope, project) as belt:
        belt.start()
        # The worker needs as long to wake up as this process needs for the other rooms' imports: both at once.
        from traindx.walk.steps import Walk

        return await Walk(scope, project, belt, listener, began).to_diagnosis(message, specialist)


def gather_context(path: str | Path, message: str = "") -> ContextPackage:
    """The context package of a run, with the symptoms that the message and the artifacts show."""
    scope = Scope.of(path)
    project = Project.around(scope.root)
    with open_belt(scope, project) as belt:
        belt.start()
        from traindx.context import gather
        from traindx.request import understand

        context = gather(belt, scope, project.profile())
    return context.model_copy(update={"symptoms": list(understand(message, context).symptoms)})


def open_belt(scope: Scope, project: Project) -> Belt:
    """The toolbelt for a run: our tools and the project's own."""
    return Belt(scope, [project.tools] if project.tools else [])


def load_household(project: Project) -> Household:
    """The specialists and the catalog, ours and the project's own."""
    from traindx.walk.household import Household

    return Household.load(project)


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
