"""What the orchestration of specialists costs, against the scripted server with scripted delays.

Usage: python benchmarks/orchestration.py. The bars: at most 50 ms a turn besides the model's own time and the tools;
three specialists at once at most 1.3 times the slowest alone; 80 % of the second request in the cacheable prefix.
"""

import asyncio
import statistics
import time
from collections.abc import Callable
from typing import Any

from traindx.brains import Case
from traindx.brains.llm import ClaudeBrain, ClaudeOptions
from traindx.definitions.content import EXAMPLES
from traindx.definitions.project import Project
from traindx.pipeline.inputs import OpenRun
from traindx.pipeline.session import Session
from traindx.readers import Scope
from traindx.runtime import Toolbelt
from traindx.testing import Received, ScriptedMessagesServer, Turn, call, say, submit
from traindx.testing.received import segments

RUN = EXAMPLES / "schedule-change"
MESSAGE = "loss went up after epoch 7"
TURNS = 12
DELAY = 0.4
NAMES = ("training-monitor", "ml-debugger", "state-debugger")


def answer(request: Received) -> Turn:
    """A submission without causes: the sceptic has nothing to do."""
    headings = request.body["tools"][-1]["input_schema"]["$defs"]["Section"]["properties"]["heading"]["enum"]
    sections = [{"heading": heading, "text": "…"} for heading in headings]
    rest: dict[str, list[str]] = {"causes": [], "leads": [], "excluded": [], "questions": []}
    return submit({"status": "needs_more_data", **rest, "sections": sections})


def script(delay: float) -> Callable[[Received], Turn]:
    """Reads a line a turn, so that the conversation grows, and then answers."""

    def act(request: Received) -> Turn:
        turn = len(request.messages) // 2
        if turn >= TURNS:
            return answer(request).after(delay)
        asked = call("Read", path="train.log", start_line=turn + 1, max_lines=20, tail=False)
        return (say("Next I look further down.") + asked).after(delay)

    return act


async def investigated(toolbelt: Toolbelt, server: ScriptedMessagesServer, names: tuple[str, ...]) -> float:
    """The seconds that these specialists take at once, from prepared case to findings."""
    session = Session(OpenRun((str(RUN),), toolbelt.scope, Project(), toolbelt), {"brain": "local"})
    cases: list[Case] = []
    for name in names:
        found = await session.cases(MESSAGE, name)
        assert isinstance(found, list)
        cases += found
    async with ClaudeBrain(ClaudeOptions(base_url=server.url, api_key="k")) as brain:
        await asyncio.gather(*(brain.prepared(case) for case in cases))
        began = time.perf_counter()
        await brain.investigate(cases)
        return time.perf_counter() - began


def overhead(toolbelt: Toolbelt) -> float:
    """Milliseconds a turn that are neither the server's delay nor a tool's."""
    with ScriptedMessagesServer(script(DELAY / 4), forever=True) as server:
        tools = len(toolbelt.uses)
        seconds = asyncio.run(investigated(toolbelt, server, NAMES[:1]))
        in_tools = sum(use.seconds for use in toolbelt.uses[tools:])
        turns = len(server.requests)
        return 1000 * (seconds - turns * DELAY / 4 - in_tools) / turns


def at_once(toolbelt: Toolbelt) -> tuple[float, float]:
    """The slowest specialist alone, and all three together."""
    alone = []
    for name in NAMES:
        with ScriptedMessagesServer(script(DELAY), forever=True) as server:
            alone.append(asyncio.run(investigated(toolbelt, server, (name,))))
    with ScriptedMessagesServer(script(DELAY), forever=True) as server:
        return max(alone), asyncio.run(investigated(toolbelt, server, NAMES))


def cacheable(toolbelt: Toolbelt) -> tuple[float, float]:
    """How much of the first request the second finds in the cache, and how much of the second that is."""
    with ScriptedMessagesServer(script(0.0), forever=True) as server:
        asyncio.run(investigated(toolbelt, server, NAMES[:1]))
        one, two = (segments(request.body) for request in server.requests[:2])
    prefix = max(index for index, row in enumerate(one) if row[1]) + 1
    assert [row[0] for row in one[:prefix]] == [row[0] for row in two[:prefix]]

    def size(rows: list[tuple[str, Any]]) -> int:
        return sum(len(row[0]) for row in rows)

    return size(one[:prefix]) / size(one), size(one[:prefix]) / size(two)


def main() -> None:
    """Print the figures beside their bars."""
    with Toolbelt(Scope.of(RUN)) as toolbelt:
        toolbelt.specs()
        turns = [overhead(toolbelt) for _ in range(3)]
        slowest, together = at_once(toolbelt)
        carried, share = cacheable(toolbelt)
    print(
        f"overhead per turn        {statistics.median(turns):6.1f} ms   (bar: 50 ms; worst of three {max(turns):.1f})"
    )
    print(f"slowest specialist alone {slowest:6.2f} s")
    print(f"three at once            {together:6.2f} s    {together / slowest:.2f} times (bar: 1.3)")
    print(f"of the first request     {carried:6.1%}     in the cacheable prefix (bar: 80 %)")
    print(f"of the second request    {share:6.1%}     found in the cache")


if __name__ == "__main__":
    main()
