"""`inspect`: one analysis of a run, by its name."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from traindx.mcp.analyses import catalog, names, told
from traindx.mcp.answering import parsed
from traindx.mcp.offer import RUN, Asked, Offer, Result, Said, input_schema, output_schema
from traindx.runtime import ToolInput


class Input(ToolInput):
    """Which analysis of which run."""

    analysis: str = Field(default="", description="a name from the list; empty: what each does")
    run: str = Field(default=".", description=RUN)
    options: dict[str, Any] = Field(
        default_factory=dict, description="the analysis's own options; an unknown one is answered with those there are"
    )


class Inspected(Result):
    """What the analysis found, in its own fields; `no_data` says what was looked for and where."""

    signals: list[dict[str, Any]] = Field(default_factory=list)
    no_data: str = ""


async def answer(given: Mapping[str, Any], asked: Asked) -> Said:
    """The result of the analysis, from a worker that can only read the run."""
    from traindx.pipeline.inputs import open_run

    wanted = parsed("inspect", Input, given)
    if not wanted.analysis:
        return Said({"analyses": await asyncio.to_thread(catalog)})
    place = asked.resolve(wanted.run)
    asked.tell(f"{wanted.analysis[:100]} on {wanted.run}")
    with open_run(place) as run:
        return told(await asyncio.to_thread(run.toolbelt.call, wanted.analysis, wanted.options))


OFFER = Offer(
    name="inspect",
    title="One analysis of a training run",
    description="Runs one read-only analysis of a run: numbers with file, line and quote. Without `analysis` it lists"
    f" them with their options. Analyses: {', '.join(names())}.",
    input_schema=input_schema(Input),
    output_schema=output_schema(Inspected),
    answer=answer,
    narrow="`options` narrow an analysis (a series, a file, a range of lines)",
)
