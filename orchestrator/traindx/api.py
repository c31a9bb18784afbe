"""The Python API: a path and a message in, a diagnosis out."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Iterator
from typing import TYPE_CHECKING, Any

from typing_extensions import Unpack

from traindx.contract import ContextPackage, Diagnosis, Event, null_listener
from traindx.definitions.choices import BrainName
from traindx.definitions.project import Project
from traindx.pipeline.brain_choice import wants_claude
from traindx.pipeline.inputs import Paths, open_run, open_toolbelt, resolve_inputs
from traindx.pipeline.options import Choices, check_choices
from traindx.pipeline.transcript import TranscriptFile

if TYPE_CHECKING:
    from traindx.pipeline.outgoing import Outgoing
    from traindx.pipeline.registry import Registry
    from traindx.pipeline.session import Session

__all__ = [
    "BrainName",
    "Choices",
    "adiagnose",
    "diagnose",
    "gather_context",
    "load_registry",
    "open_session",
    "open_toolbelt",
    "resolve_inputs",
    "stream",
    "what_leaves",
]


def diagnose(path: Paths, message: str = "", **choices: Unpack[Choices]) -> Diagnosis:
    """Find out why the run in `path` went wrong.

    Args:
        path: the run folder, a file of it, an archive, `-` for a log on standard input, or several of these. It is
            only ever read.
        message: what you see, in your own words; may be empty.
        choices: `specialist`, `listener`, `brain`, `model`, budgets and more: see `Choices`.

    Returns:
        The diagnosis; `diagnosis.model_dump_json()` is the JSON contract.

    Raises:
        TraindxError: the path cannot be read, or a definition file is wrong. The message is one clear sentence.
        TypeError: there is no such keyword; nothing was opened.
    """
    check_choices(choices)
    if wants_claude(choices):
        return _run_sync(_interruptible(path, message, choices))
    return _run_sync(_diagnosed(path, message, choices))


def adiagnose(path: Paths, message: str = "", **choices: Unpack[Choices]) -> Coroutine[Any, Any, Diagnosis]:
    """`diagnose` for programs that already run an event loop, to be awaited; cancelling it ends the worker."""
    check_choices(choices)
    return _diagnosed(path, message, choices)


async def _diagnosed(path: Paths, message: str, choices: Choices, stop: asyncio.Event | None = None) -> Diagnosis:
    async with open_session(path, stop, **choices) as session:
        diagnosis = await session.diagnose(message)
        kept = session.transcript
        if not isinstance(kept, TranscriptFile) or not kept.trouble:
            return diagnosis
        made = diagnosis.provenance
        unwritten = [*made.unwritten, kept.trouble]
        return diagnosis.model_copy(update={"provenance": made.model_copy(update={"unwritten": unwritten})})


def stream(path: Paths, message: str = "", **choices: Unpack[Choices]) -> AsyncGenerator[Event, None]:
    """The events of a diagnosis as they happen; the last one is `done` and carries the diagnosis.

    Leaving the loop, or cancelling the task that runs it, ends the investigation.
    """
    check_choices(choices)
    return _events(path, message, choices)


async def _events(path: Paths, message: str, choices: Choices) -> AsyncGenerator[Event, None]:
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Event | None] = asyncio.Queue()
    also = choices.get("listener", null_listener)

    def hear(event: Event) -> None:
        # Progress comes from the thread that waits for the worker.
        if event.kind != "done":
            also(event)
            loop.call_soon_threadsafe(queue.put_nowait, event)

    listening = choices.copy()
    listening["listener"] = hear
    work = asyncio.ensure_future(_diagnosed(path, message, listening))
    work.add_done_callback(lambda _: queue.put_nowait(None))
    try:
        while (event := await queue.get()) is not None:
            yield event
        diagnosis = work.result()
        done = Event(kind="done", text=diagnosis.summary, diagnosis=diagnosis)
        also(done)
        yield done
    finally:
        if not work.done():
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await work


def open_session(
    path: Paths, stop: asyncio.Event | None = None, **choices: Unpack[Choices]
) -> contextlib.AbstractAsyncContextManager[Session]:
    """A run kept open: `await session.diagnose(…)`, then `await session.ask(…)`. Setting `stop` ends a model's work."""
    check_choices(choices)
    return _opened(path, stop, choices)


@contextlib.asynccontextmanager
async def _opened(path: Paths, stop: asyncio.Event | None, choices: Choices) -> AsyncIterator[Session]:
    with open_run(path, choices) as run:
        # The worker needs as long to wake up as this process needs for the other rooms' imports: both at once.
        from traindx.pipeline.session import Session

        async with Session(run, choices, stop) as session:
            yield session


def gather_context(path: Paths, message: str = "", **choices: Unpack[Choices]) -> ContextPackage:
    """The context package of a run, with the symptoms that the message and the artifacts show."""
    check_choices(choices)
    with open_run(path, choices) as run:
        from traindx.pipeline.context import gather
        from traindx.pipeline.request import understand

        context = gather(run.toolbelt, run.scope, run.project.profile(), run.remarks)
    return context.model_copy(update={"symptoms": list(understand(message, context).symptoms)})


def what_leaves(path: Paths, message: str = "", **choices: Unpack[Choices]) -> Coroutine[Any, Any, Outgoing]:
    """What an investigation with a model would send first, to be awaited; nothing is sent."""
    check_choices(choices)
    return _would_leave(path, message, choices)


async def _would_leave(path: Paths, message: str, choices: Choices) -> Outgoing:
    from traindx.pipeline.outgoing import first_requests

    quiet = choices.copy()
    quiet["brain"] = "local"
    async with open_session(path, **quiet) as session:
        return await first_requests(session, message, choices)


def load_registry(project: Project) -> Registry:
    """The specialists and the catalog, ours and the project's own."""
    from traindx.pipeline.registry import Registry

    return Registry.load(project)


async def _interruptible(path: Paths, message: str, choices: Choices) -> Diagnosis:
    """A diagnosis that Ctrl-C brings to its end instead of throwing it away; a second one throws it away."""
    stop = asyncio.Event()
    with _interrupts(stop):
        return await _diagnosed(path, message, choices, stop)


@contextlib.contextmanager
def _interrupts(stop: asyncio.Event) -> Iterator[None]:
    """Ctrl-C sets `stop`, where this is the thread that hears it."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    twice = False

    def halt() -> None:
        nonlocal twice
        twice = stop.is_set()
        stop.set()
        if twice and task is not None:
            task.cancel()

    mine = threading.current_thread() is threading.main_thread()
    if mine:
        loop.add_signal_handler(signal.SIGINT, halt)
    try:
        yield
    except asyncio.CancelledError:
        if twice:
            raise KeyboardInterrupt from None
        raise
    finally:
        if mine:
            loop.remove_signal_handler(signal.SIGINT)


def _run_sync(work: Coroutine[Any, Any, Diagnosis]) -> Diagnosis:
    """Run a coroutine from synchronous code, also where an event loop is running already (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        # A system that gives no event loop any descriptors leaves the work unbegun.
        with contextlib.closing(work):
            return asyncio.run(work)
    answer: list[Diagnosis] = []
    trouble: list[BaseException] = []

    def in_its_own_loop() -> None:
        try:
            answer.append(asyncio.run(work))
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that asked
            trouble.append(error)

    thread = threading.Thread(target=in_its_own_loop)
    thread.start()
    thread.join()
    if trouble:
        raise trouble[0]
    return answer[0]
