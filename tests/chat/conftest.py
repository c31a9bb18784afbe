"""Fixtures of the chat tests: bundled runs kept open and diagnosed, and scripted servers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.claude.conftest import served
from traindx.chat import local
from traindx.chat.commands import carry_out
from traindx.chat.talk import Talk
from traindx.chat.turns import Turns
from traindx.content import EXAMPLES
from traindx.report.render import Page

__all__ = ["served"]
RUNS = ("schedule-change", "schedule-change-healthy", "poor-folder")


@pytest.fixture(scope="module")
def turns() -> Iterator[Turns]:
    with Turns() as loop:
        yield loop


@pytest.fixture(scope="module")
def talks(turns: Turns) -> Iterator[Callable[[str], Talk]]:
    """The bundled runs, each diagnosed once for all tests of a file."""
    opened: dict[str, Talk] = {}

    def talk_about(name: str) -> Talk:
        if name not in opened:
            talk = Talk([str(EXAMPLES / name)], {"brain": "local"}, Page(), asyncio.Event())
            turns.take(talk.open())
            turns.take(talk.diagnose(""))
            opened[name] = talk
        return opened[name]

    yield talk_about
    for talk in opened.values():
        turns.take(talk.close())


@pytest.fixture
def ask(talks: Callable[[str], Talk], turns: Turns) -> Callable[..., str]:
    """`ask("why?", of="poor-folder")`: the local answer; a line with a slash is a command."""

    def answered(line: str, of: str = "schedule-change") -> str:
        talk = talks(of)
        return turns.take(carry_out(talk, line) if line.startswith("/") else local.answer(talk, line))

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
