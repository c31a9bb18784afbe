"""What the orchestration costs beside the model's own time and the tools."""

import asyncio
import time

from tests.llm.kit import MESSAGE, Serve, answer, quick
from traindx.brains import Case
from traindx.brains.llm import ClaudeBrain
from traindx.definitions.project import Project
from traindx.pipeline.inputs import OpenRun
from traindx.pipeline.session import Session
from traindx.runtime import Toolbelt
from traindx.testing import Received, ScriptedMessagesServer, Turn, call, say, submit

NAMES = ("training-monitor", "ml-debugger", "state-debugger")
TURNS = 5


def specialist_of(request: Received) -> str:
    firsts = {"training-monitor": "You read training runs", "ml-debugger": "You find out what broke"}
    return next((name for name, words in firsts.items() if words in request.system), "state-debugger")


def working(delay: float) -> ScriptedMessagesServer:
    """A model that reads a line a turn, each after a delay, and then has no cause to name."""

    def act(request: Received) -> Turn:
        turn = len(request.messages) // 2
        if turn < TURNS:
            asked = call("Read", path="train.log", start_line=turn + 1, max_lines=3, tail=False)
            return (say("Further down.") + asked).after(delay)
        told = answer(specialist=specialist_of(request), status="needs_more_data", causes=[])
        return submit(told).after(delay)

    return ScriptedMessagesServer(act, forever=True)


async def took(toolbelt: Toolbelt, server: ScriptedMessagesServer, *names: str) -> float:
    session = Session(OpenRun(("run",), toolbelt.scope, Project(), toolbelt), {"brain": "local"})
    cases: list[Case] = []
    for name in names:
        found = await session.cases(MESSAGE, name)
        assert isinstance(found, list)
        cases += found
    async with ClaudeBrain(quick(server)) as brain:
        await asyncio.gather(*(brain.prepared(case) for case in cases))
        began = time.perf_counter()
        await brain.investigate(cases)
        return time.perf_counter() - began


def test_a_turn_costs_at_most_fifty_milliseconds(open_toolbelt: Toolbelt) -> None:
    best = 1.0
    for _ in range(4):
        with working(0.05) as server:
            before = len(open_toolbelt.uses)
            seconds = asyncio.run(took(open_toolbelt, server, "training-monitor"))
            in_tools = sum(use.seconds for use in open_toolbelt.uses[before:])
            turns = len(server.requests)
            assert turns == TURNS + 1
            best = min(best, (seconds - 0.05 * turns - in_tools) / turns)
    assert best <= 0.050


def test_three_at_once_take_little_longer_than_the_slowest_alone(open_toolbelt: Toolbelt, served: Serve) -> None:
    ratios = []
    for _ in range(2):
        alone = []
        for name in NAMES:
            with working(0.3) as server:
                alone.append(asyncio.run(took(open_toolbelt, server, name)))
        with working(0.3) as server:
            together = asyncio.run(took(open_toolbelt, server, *NAMES))
            assert len(server.requests) == 3 * (TURNS + 1)
        ratios.append(together / max(alone))
    assert min(ratios) <= 1.3
