"""The walk of one request, from message and path to diagnosis: the Python API."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traindx.artifacts.folder.scope import Scope
from traindx.artifacts.folder.unpack import laid_out
from traindx.contract import ContextPackage, Diagnosis, Event, Listener, unheard
from traindx.errors import UsageError
from traindx.project import Project
from traindx.toolbelt import Belt

if TYPE_CHECKING:
    from traindx.walk.household import Household

__all__ = ["adiagnose", "diagnose", "gather_context", "load_household", "looked_at", "open_belt"]


Paths = str | Path | Sequence[str | Path]


def diagnose(
    path: Paths, message: str = "", *, specialist: str | None = None, listener: Listener = unheard
) -> Diagnosis:
    """Find out why the run in `path` went wrong.

    Args:
        path: the run folder, a file of it, an archive, `-` for a log on standard input, or several of these. It is
            only ever read.
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
    path: Paths, message: str = "", *, specialist: str | None = None, listener: Listener = unheard
) -> Diagnosis:
    """`diagnose` for programs that already run an event loop; cancelling it ends the worker."""
    began = time.perf_counter()
    progress = partial(_tell, listener)
    with looked_at(path) as (scope, remarks), open_belt(scope, Project.around(scope.root), progress) as belt:
        belt.start()
        # The worker needs as long to wake up as this process needs for the other rooms' imports: both at once.
        from traindx.walk.steps import Walk

        walk = Walk(scope, Project.around(scope.root), belt, listener, began, remarks)
        chosen = await walk.to_one_run()
        if chosen is None:
            return await walk.to_diagnosis(message, specialist)
        with open_belt(chosen.scope, chosen.project, progress) as its_belt:
            return await chosen.with_belt(its_belt).to_diagnosis(message, specialist)


def gather_context(path: Paths, message: str = "") -> ContextPackage:
    """The context package of a run, with the symptoms that the message and the artifacts show."""
    with looked_at(path) as (scope, remarks):
        project = Project.around(scope.root)
        with open_belt(scope, project) as belt:
            belt.start()
            from traindx.context import gather
            from traindx.request import understand

            context = gather(belt, scope, project.profile(), remarks)
    return context.model_copy(update={"symptoms": list(understand(message, context).symptoms)})


@contextlib.contextmanager
def looked_at(path: Paths) -> Iterator[tuple[Scope, list[str]]]:
    """The scope for what was given, archives unpacked for as long as they are looked at."""
    paths = [path] if isinstance(path, str | Path) else list(path)
    if not paths:
        raise UsageError("no path was given")
    with contextlib.ExitStack() as unpacked:
        places = [unpacked.enter_context(laid_out(one)) for one in paths]
        yield Scope.of(*(place for place, _ in places)), [row for _, remarks in places for row in remarks]


def open_belt(scope: Scope, project: Project, progress: Callable[[str], None] | None = None) -> Belt:
    """The toolbelt for a run: our tools and the project's own."""
    return Belt(scope, [project.tools] if project.tools else [], progress=progress)


def _tell(listener: Listener, progress: str) -> None:
    listener(Event(kind="stage", text=progress))


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
