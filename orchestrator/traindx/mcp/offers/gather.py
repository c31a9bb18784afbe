"""`gather`: what a run left behind, and what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from traindx.contract.context import Artifacts
from traindx.mcp.answering import parsed
from traindx.mcp.offer import RUN, Asked, Offer, Result, Said, input_schema, output_schema
from traindx.runtime import ToolInput


class Input(ToolInput):
    """Which run."""

    run: str = Field(default=".", description=RUN)
    message: str = Field(default="", max_length=20_000, description="what the user sees; its symptoms are listed")


class Gathered(Result):
    """The context package; the fields that a run has nothing for are left out."""

    artifacts: Artifacts
    missing: list[str] = Field(default_factory=list)


async def answer(given: Mapping[str, Any], asked: Asked) -> Said:
    """The context package of a run."""
    from traindx.api import open_session
    from traindx.contract import Event
    from traindx.pipeline.request import understand

    wanted = parsed("gather", Input, given)

    def hear(event: Event) -> None:
        asked.tell(event.text)

    async with open_session(asked.resolve(wanted.run), brain="local", listener=hear) as session:
        context = await session.context()
    package = context.model_copy(update={"symptoms": list(understand(wanted.message, context).symptoms)})
    kept = package.model_dump(mode="json", exclude_defaults=True)
    return Said({**kept, "artifacts": kept.get("artifacts", {}), "missing": package.missing})


OFFER = Offer(
    name="gather",
    title="Gather a run's artifacts",
    description="What a training run left (logs, loss curves, learning rate, config, code, errors, checkpoints, data),"
    " each series and setting in one row with its file and line, and what is missing.",
    input_schema=input_schema(Input),
    output_schema=output_schema(Gathered),
    answer=answer,
    narrow="`inspect` with `extract_training_metrics`, `Grep` or `Read` shows the rest",
)
