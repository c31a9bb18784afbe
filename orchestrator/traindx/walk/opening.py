"""Opening a run: what may be looked at, and the tools to look with."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from traindx.artifacts.folder.scope import Scope
from traindx.artifacts.folder.unpack import laid_out
from traindx.contract import Event, Listener, unheard
from traindx.errors import UsageError
from traindx.project import Project
from traindx.toolbelt import Belt

Paths = str | Path | Sequence[str | Path]


@contextlib.contextmanager
def looked_at(path: Paths) -> Iterator[tuple[Scope, list[str]]]:
    """The scope for what was given, archives unpacked for as long as they are looked at."""
    paths = [path] if isinstance(path, str | Path) else list(path)
    if not paths:
        raise UsageError("no path was given")
    with contextlib.ExitStack() as unpacked:
        places = [unpacked.enter_context(laid_out(one)) for one in paths]
        yield Scope.of(*(place for place, _ in places)), [row for _, remarks in places for row in remarks]


def open_belt(scope: Scope, project: Project, listener: Listener = unheard) -> Belt:
    """The toolbelt for a run: our tools and the project's own."""
    return Belt(scope, [project.tools] if project.tools else [], progress=partial(_tell, listener))


def _tell(listener: Listener, progress: str) -> None:
    listener(Event(kind="stage", text=progress))
