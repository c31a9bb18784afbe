"""Every signal of every tool has a run where it must fire and a near-miss where it must not."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tests.tools.signal_case import Case
from traindx.runtime.discovery import load_tool, tool_names

EMITTED = {name: frozenset(load_tool(name, path).emits) for name, path in tool_names().items()}
MODULES = [import_module(f"tests.tools.{path.stem}") for path in sorted(Path(__file__).parent.glob("test_signals*.py"))]


def listed() -> Iterator[Case]:
    """The cases of all `test_signals*.py`: those that name their tool, and tables of (name, files, must, must not)."""
    for module in MODULES:
        for value in vars(module).values():
            if isinstance(value, list) and value and all(isinstance(row, Case) for row in value):
                yield from value
            elif isinstance(value, list) and value and all(_is_row(row) for row in value):
                yield from _of_one_tool(value)


def _is_row(row: object) -> bool:
    return isinstance(row, tuple) and len(row) == 4 and isinstance(row[2], set) and isinstance(row[3], set)


def _of_one_tool(rows: list[tuple[str, dict[str, str], set[str], set[str]]]) -> Iterator[Case]:
    """A table is about the one tool that can say all of it."""
    spoken = {signal for row in rows for signal in row[2] | row[3]}
    (tool,) = [name for name, signals in EMITTED.items() if spoken <= signals]
    for name, files, must, must_not in rows:
        yield Case(tool, name, files, frozenset(must), frozenset(must_not))


CASES = list(listed())


@pytest.mark.parametrize("tool", [name for name, signals in EMITTED.items() if signals])
def test_every_signal_of_a_tool_has_a_run_and_a_near_miss(tool: str) -> None:
    mine = [found for found in CASES if found.tool == tool]
    fired = {signal for found in mine for signal in found.fires}
    held_back = {signal for found in mine for signal in found.silent}
    assert EMITTED[tool] - fired == frozenset(), "no case in which it must fire"
    assert EMITTED[tool] - held_back == frozenset(), "no case in which it must stay silent"


def test_cases_speak_of_signals_that_exist() -> None:
    unknown = {
        (found.label, signal) for found in CASES for signal in (found.fires | found.silent) - EMITTED[found.tool]
    }
    assert unknown == set()
