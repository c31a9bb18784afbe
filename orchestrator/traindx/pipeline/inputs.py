"""Opening a run: what may be looked at, and the tools to look with."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from traindx.contract import Event, Listener, null_listener
from traindx.definitions.choices import STDIN
from traindx.definitions.project import Project
from traindx.errors import UnreadableInput, UsageError
from traindx.pipeline.archives import is_archive, unpack
from traindx.pipeline.options import Choices
from traindx.pipeline.spool import spool
from traindx.runtime import Toolbelt
from traindx.runtime.scope import Scope

Paths = str | Path | Sequence[str | Path]


@contextlib.contextmanager
def resolve_inputs(path: Paths, max_input: int | None = None) -> Iterator[tuple[Scope, list[str]]]:
    """The scope for what was given, archives unpacked for as long as they are looked at."""
    paths = _several(path)
    if not paths:
        raise UsageError("no path was given")
    if not all(map(str, paths)):
        raise UsageError("the path is empty: give `.` for the current folder")
    with contextlib.ExitStack() as unpacked:
        places = [unpacked.enter_context(laid_out(one, max_input)) for one in paths]
        yield Scope.of(*(place for place, _ in places)), [row for _, remarks in places for row in remarks]


def _several(path: Paths) -> list[str | Path]:
    return [path] if isinstance(path, str | Path) else list(path)


@dataclass(frozen=True)
class OpenRun:
    """A run that can be looked at: what may be read, the project around it, the tools, remarks about the input."""

    paths: tuple[str, ...]
    scope: Scope
    project: Project
    toolbelt: Toolbelt
    remarks: tuple[str, ...] = ()
    began: float = field(default_factory=time.perf_counter)


@contextlib.contextmanager
def open_run(path: Paths, choices: Choices | None = None) -> Iterator[OpenRun]:
    """Resolve what was given and start the worker, which wakes up while the caller goes on."""
    began = time.perf_counter()
    chosen = choices or Choices()
    with resolve_inputs(path, chosen.get("max_input")) as (scope, remarks):
        if not scope.only and scope.root == Path(scope.root.anchor):
            raise UnreadableInput(scope.root, "it is the whole machine; give the folder of a run")
        project = Project.around(scope.root)
        listener = chosen.get("listener", null_listener)
        unsandboxed = chosen.get("allow_unsandboxed_tools", False)
        with open_toolbelt(scope, project, listener, unsandboxed=unsandboxed) as toolbelt:
            toolbelt.start()
            names = tuple(map(str, _several(path)))
            yield OpenRun(names, scope, project, toolbelt, tuple(remarks), began)


@contextlib.contextmanager
def open_part(whole: OpenRun, scope: Scope, listener: Listener = null_listener) -> Iterator[OpenRun]:
    """One of the runs in a folder that holds several."""
    project = Project.around(scope.root)
    with open_toolbelt(scope, project, listener, unsandboxed=whole.toolbelt.unsandboxed) as toolbelt:
        yield OpenRun(whole.paths, scope, project, toolbelt, whole.remarks, whole.began)


def open_toolbelt(
    scope: Scope, project: Project, listener: Listener = null_listener, *, unsandboxed: bool = False
) -> Toolbelt:
    """The toolbelt for a run: our tools and the project's own, these without a sandbox only when `unsandboxed`."""
    tools = [project.tools] if project.tools else []
    return Toolbelt(scope, tools, project=project.home, progress=partial(_tell, listener), unsandboxed=unsandboxed)


def _tell(listener: Listener, progress: str) -> None:
    listener(Event(kind="stage", text=progress))


@contextlib.contextmanager
def laid_out(path: str | Path, max_input: int | None = None) -> Iterator[tuple[Path, list[str]]]:
    """The path itself, or where its content was unpacked; with remarks on what was left out."""
    if str(path) == STDIN:
        with _temporary_folder() as folder:
            remarks: list[str] = []
            yield spool(folder, max_input, remarks), remarks
    elif is_archive(Path(path)):
        with _temporary_folder() as folder:
            remarks = []
            unpack(Path(path), folder, max_input, remarks)
            yield folder, remarks
    else:
        yield Path(path), []


@contextlib.contextmanager
def _temporary_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="traindx-", ignore_cleanup_errors=True) as name:
        yield Path(name).resolve()
