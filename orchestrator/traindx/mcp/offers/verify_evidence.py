"""`verify_evidence`: whether what somebody wants to cite stands where they say."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field

from traindx.contract import Evidence, Value
from traindx.mcp.answering import parsed
from traindx.mcp.offer import RUN, Asked, Offer, Result, Said, input_schema, output_schema
from traindx.runtime import ToolInput

if TYPE_CHECKING:
    from traindx.runtime import Toolbelt

MOST = 50
AROUND = 2


class Cited(ToolInput):
    """A place and what is said to stand there."""

    source: str = Field(description="file, relative to the run")
    line: int | None = Field(default=None, ge=1, description="its line; or say `locator`")
    locator: str = Field(
        default="",
        max_length=300,
        description="`lines 38-44`, `epoch 7 of loss`, `tensor encoder.weight`, `cell 3, line 2`",
    )
    quote: str = Field(default="", max_length=4000, description="the text of that line, or the number at that point")
    claim: str = Field(default="", max_length=2000, description="what it is said to show; its numbers are checked too")


class Input(ToolInput):
    """The citations to open."""

    run: str = Field(default=".", description=RUN)
    citations: list[Cited] = Field(max_length=MOST, min_length=1)


class Verdict(Value):
    """Whether it holds, why not, and what stands there."""

    holds: bool
    why: str = ""
    there: str = Field(default="", description="the line with its neighbours")


class Verdicts(Result):
    """One verdict for each citation, in their order."""

    all_hold: bool
    verdicts: list[Verdict] = Field(default_factory=list)


async def answer(given: Mapping[str, Any], asked: Asked) -> Said:
    """Each place is opened again by code."""
    from traindx.pipeline.inputs import open_run

    wanted = parsed("verify_evidence", Input, given)
    place = asked.resolve(wanted.run)
    asked.tell(f"opening {len(wanted.citations)} places")
    with open_run(place) as run:
        verdicts = await asyncio.to_thread(_verdicts, wanted.citations, run.toolbelt)
    return Said(Verdicts(all_hold=all(row.holds for row in verdicts), verdicts=verdicts).model_dump(mode="json"))


def _verdicts(cited: list[Cited], toolbelt: Toolbelt) -> list[Verdict]:
    from traindx.diagnosis.evidence.verify import opened_places

    pieces = [
        Evidence(
            claim=row.claim, kind="direct", source=row.source, locator=_locator(row), quote=row.quote, verified=False
        )
        for row in cited
    ]
    found = opened_places(pieces, toolbelt)
    return [
        Verdict(holds=one.verified, why=one.why, there="" if row.line is None else _there(row, toolbelt))
        for row, one in zip(cited, found, strict=True)
    ]


def _locator(row: Cited) -> str:
    if row.line is None:
        return row.locator
    # A locator that names a line itself would be read instead of `line`.
    rest = "" if "line" in row.locator else row.locator
    return f"line {row.line}, {rest}" if rest else f"line {row.line}"


def _there(row: Cited, toolbelt: Toolbelt) -> str:
    """What stands at a line and beside it, so that a wrong number can be put right without another call."""
    first = max(1, (row.line or 1) - AROUND)
    result = toolbelt.call("Read", {"path": row.source, "start_line": first, "max_lines": 2 * AROUND + 1})
    return str(result.output.get("text", "")) if result.status == "ok" else result.reason


OFFER = Offer(
    name="verify_evidence",
    title="Verify citations",
    description="Is it true? Opens what you want to cite (file, line, quote, number; a series at a step; a tensor) and"
    " says for each whether it holds, and what stands there instead. Use it before you state a cause.",
    input_schema=input_schema(Input),
    output_schema=output_schema(Verdicts),
    answer=answer,
    narrow="give fewer citations",
)
