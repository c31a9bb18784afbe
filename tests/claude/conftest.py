"""Fixtures of the Claude tests: an open run, scripted servers, and a diagnosis by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.claude.kit import Investigate, Serve, diagnosed, holds, is_sceptic, quick
from traindx.artifacts import Scope
from traindx.contract import Diagnosis, Event
from traindx.testing import ScriptedMessagesServer
from traindx.toolbelt import Belt


@pytest.fixture(scope="module")
def open_belt(broken_run: Path) -> Iterator[Belt]:
    """The broken example's tools, kept open: the worker starts once for all tests of a file."""
    with Belt(Scope.of(broken_run)) as belt:
        yield belt


@pytest.fixture
def investigate(open_belt: Belt) -> Investigate:
    """`investigate(server, …options)`: a diagnosis of the broken example; the sceptic agrees unless scripted."""

    def run(
        server: ScriptedMessagesServer,
        *,
        specialist: str | None = "training-monitor",
        heard: list[Event] | None = None,
        **options: Any,
    ) -> Diagnosis:
        server.script(holds(), when=is_sceptic, forever=True)
        return diagnosed(open_belt, quick(server, **options), specialist, heard)

    return run


@pytest.fixture
def served() -> Iterator[Serve]:
    """Starts scripted servers and stops them."""
    started: list[ScriptedMessagesServer] = []

    def start(*turns: Any, forever: bool = False) -> ScriptedMessagesServer:
        server = ScriptedMessagesServer(*turns, forever=forever)
        started.append(server.__enter__())
        return server

    yield start
    for server in started:
        server.close()
