"""What would leave the machine, without letting it leave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from traindx.brain.claude import ClaudeBrain, outgoing
from traindx.brain.claude.submission import submit_tool
from traindx.contract import Diagnosis
from traindx.walk import open_session
from traindx.walk.choices import Choices
from traindx.walk.minds import claude_options
from traindx.walk.opening import Paths


@dataclass(frozen=True)
class Leaving:
    """The first request for each specialist, where it would go, and how many secrets of which kind were masked."""

    url: str
    requests: dict[str, dict[str, Any]]
    masked: Mapping[str, int] = field(default_factory=dict)


async def what_leaves(path: Paths, message: str, choices: Choices) -> Leaving:
    """Build the first requests as an investigation would; nothing is sent."""
    heard = choices.copy()
    heard["brain"] = "local"
    async with open_session(path, **heard) as session, ClaudeBrain(claude_options(choices)) as brain:
        cases = await session.cases(message)
        requests: dict[str, dict[str, Any]] = {}
        for case in [] if isinstance(cases, Diagnosis) else cases:
            opened = (await brain.prepared(case)).conversation
            allowance = opened.budget.before_call(opened.size)
            requests[case.specialist.name] = outgoing(opened.request(allowance, submit_tool(case)), brain.redactor)
        return Leaving(brain.client.url, requests, dict(brain.redactor.kinds))
