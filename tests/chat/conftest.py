"""Fixtures of the chat tests: bundled runs kept open and diagnosed, and scripted servers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.llm.conftest import served
from traindx.chat import local
from traindx.chat.commands import carry_out
from traindx.chat.session import ChatSession
from traindx.chat.turns import Turns
from traindx.definitions.content import EXAMPLES
from traindx.report.render import Page

__all__ = ["served"]
RUNS = ("schedule-change", "schedule-change-healthy", "poor-folder")


@pytest.fixture(scope="module")
def turns() -> Iterator[Turns]:
    with Turns() as loop:
        yield loop


@pytest.fixture(scope="module")
def talks(turns: Turns) -> Iterator[Callable[[str], ChatSession]]:
    """The bundled runs, each diagnosed once for all tests of a file."""
    opened: dict[str, ChatSession] = {}

    def talk_about(name: str) -> ChatSession:
        if name not in opened:
            session = ChatSession([str(EXAMPLES / name)], {"brain": "local"}, Page(), asyncio.Event())
            turns.take(session.open())
            turns.take(session.diagnose(""))
            opened[name] = session
        return opened[name]

    yield talk_about
    for session in opened.values():
        turns.take(session.close())


@pytest.fixture
def ask(talks: Callable[[str], ChatSession], turns: Turns) -> Callable[..., str]:
    """`ask("why?", of="poor-folder")`: the local answer; a line with a slash is a command."""

    def answered(line: str, of: str = "schedule-change") -> str:
        session = talks(of)
        return turns.take(carry_out(session, line) if line.startswith("/") else local.answer(session, line))

    return answered


@pytest.fixture
def copied_run(broken_run: Path, tmp_path: Path) -> Path:
    """The broken example where it may be changed."""
    folder = tmp_path / "run"
    folder.mkdir()
    for path in broken_run.iterdir():
        if path.is_file():
            (folder / path.name).write_bytes(path.read_bytes())
    return folder
