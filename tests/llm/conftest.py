"""Fixtures of the Claude tests: an open run, scripted servers, and a diagnosis by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.llm.kit import Investigate, Serve, diagnosed, holds, is_sceptic, quick
from traindx.contract import Diagnosis, Event
from traindx.readers import Scope
from traindx.runtime import Toolbelt
from traindx.testing import ScriptedMessagesServer


@pytest.fixture(scope="module")
def open_toolbelt(broken_run: Path) -> Iterator[Toolbelt]:
    """The broken example's tools, kept open: the worker starts once for all tests of a file."""
    with Toolbelt(Scope.of(broken_run)) as toolbelt:
        yield toolbelt


@pytest.fixture
def investigate(open_toolbelt: Toolbelt) -> Investigate:
    """`investigate(server, …options)`: a diagnosis of the broken example; the sceptic agrees unless scripted."""

    def run(
        server: ScriptedMessagesServer,
        *,
        specialist: str | None = "training-monitor",
        heard: list[Event] | None = None,
        **options: Any,
    ) -> Diagnosis:
        server.script(holds(), when=is_sceptic, forever=True)
        return diagnosed(open_toolbelt, quick(server, **options), specialist, heard)

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
