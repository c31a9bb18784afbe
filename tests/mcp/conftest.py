"""Servers in processes of their own, ended with the test that started them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.mcp.peer import Peer


@pytest.fixture
def peer() -> Iterator[Callable[..., Peer]]:
    started: list[Peer] = []

    def start(folder: Path, *arguments: str, greet: bool = True) -> Peer:
        started.append(Peer(folder, *arguments))
        if greet:
            started[-1].greet()
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.close()
