"""`compare_runs`: where a good and a bad run part, and what differs between them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from traindx.mcp.answering import parsed
from traindx.mcp.offer import Asked, Offer, Result, Said, input_schema, output_schema
from traindx.runtime import ToolInput

ANALYSIS = "compare_runs"


class Input(ToolInput):
    """The two runs."""

    good: str = Field(description="folder or log of the run that went well")
    bad: str = Field(description="folder or log of the run that went wrong")


class Compared(Result):
    """What the analysis found; `no_data` says why there was nothing to compare."""

    first_parting: str = ""
    metrics: list[dict[str, Any]] = Field(default_factory=list)
    differences: list[dict[str, Any]] = Field(default_factory=list)
    no_data: str = ""


async def answer(given: Mapping[str, Any], asked: Asked) -> Said:
    """Both runs in one scope, compared by the analysis of the same name."""
    from traindx.mcp.analyses import told
    from traindx.pipeline.inputs import open_run

    wanted = parsed(ANALYSIS, Input, given)
    places = [asked.resolve(wanted.good), asked.resolve(wanted.bad)]
    asked.tell(f"comparing {wanted.good} and {wanted.bad}")
    with open_run(places) as run:
        return told(await asyncio.to_thread(run.toolbelt.call, ANALYSIS, {}))


OFFER = Offer(
    name=ANALYSIS,
    title="Compare two training runs",
    description="Why is this run worse than that one? Where their metrics first part by more than noise, and which"
    " settings, code or commits differ, the likeliest cause first.",
    input_schema=input_schema(Input),
    output_schema=output_schema(Compared),
    answer=answer,
    narrow="`inspect` each run for itself",
)
