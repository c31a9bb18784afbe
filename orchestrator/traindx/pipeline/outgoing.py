"""What would leave the machine, without letting it leave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from traindx.brains.llm import ClaudeBrain, outgoing
from traindx.brains.llm.submission import submit_tool
from traindx.contract import Diagnosis
from traindx.pipeline.brain_choice import claude_options
from traindx.pipeline.options import Choices
from traindx.pipeline.session import Session


@dataclass(frozen=True)
class Outgoing:
    """The first request for each specialist, where it would go, and how many secrets of which kind were masked."""

    url: str
    requests: dict[str, dict[str, Any]]
    masked: Mapping[str, int] = field(default_factory=dict)


async def first_requests(session: Session, message: str, choices: Choices) -> Outgoing:
    """Build the first requests as an investigation with a model would; nothing is sent."""
    async with ClaudeBrain(claude_options(choices)) as brain:
        cases = await session.cases(message)
        requests: dict[str, dict[str, Any]] = {}
        for case in [] if isinstance(cases, Diagnosis) else cases:
            opened = (await brain.prepared(case)).conversation
            allowance = opened.budget.before_call(opened.size)
            requests[case.specialist.name] = outgoing(opened.request(allowance, submit_tool(case)), brain.redactor)
        return Outgoing(brain.client.url, requests, dict(brain.redactor.kinds))
