"""What the orchestration costs beside the model's own time and the tools."""

import asyncio
import time

from tests.claude.kit import MESSAGE, Serve, answer, quick
from traindx.brain import Case
from traindx.brain.claude import ClaudeBrain
from traindx.contract import unheard
from traindx.project import Project
from traindx.testing import Received, ScriptedMessagesServer, Turn, call, say, submit
from traindx.toolbelt import Belt
from traindx.walk.steps import Walk

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


async def took(belt: Belt, server: ScriptedMessagesServer, *names: str) -> float:
    walk = Walk(belt.scope, Project(), belt, unheard, time.perf_counter())
    cases: list[Case] = []
    for name in names:
        found = await walk.to_cases(MESSAGE, name)
        assert isinstance(found, list)
        cases += found
    async with ClaudeBrain(quick(server)) as brain:
        await asyncio.gather(*(brain.prepared(case) for case in cases))
        began = time.perf_counter()
        await asyncio.gather(*(brain.investigate(case) for case in cases))
        return time.perf_counter() - began


def test_a_turn_costs_at_most_fifty_milliseconds(open_belt: Belt) -> None:
    best = 1.0
    for _ in range(4):
        with working(0.05) as server:
            before = len(open_belt.uses)
            seconds = asyncio.run(took(open_belt, server, "training-monitor"))
            in_tools = sum(use.seconds for use in open_belt.uses[before:])
            turns = len(server.requests)
            assert turns == TURNS + 1
            best = min(best, (seconds - 0.05 * turns - in_tools) / turns)
    assert best <= 0.050


def test_three_at_once_take_little_longer_than_the_slowest_alone(open_belt: Belt, served: Serve) -> None:
    ratios = []
    for _ in range(2):
        alone = []
        for name in NAMES:
            with working(0.3) as server:
                alone.append(asyncio.run(took(open_belt, server, name)))
        with working(0.3) as server:
            together = asyncio.run(took(open_belt, server, *NAMES))
            assert len(server.requests) == 3 * (TURNS + 1)
        ratios.append(together / max(alone))
    assert min(ratios) <= 1.3
