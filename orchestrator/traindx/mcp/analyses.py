"""The analyses of the toolbelt: their names, what they do, and each as an offer of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import cache
from typing import Any

from traindx.definitions.content import TOOLS
from traindx.errors import UsageError
from traindx.mcp.offer import RUN, Asked, Offer, Said, compact
from traindx.runtime import Toolbelt, ToolResult, ToolSpec
from traindx.runtime.discovery import tool_names
from traindx.runtime.scope import Scope

RUN_FIELD = "run"


def names() -> list[str]:
    """Every analysis of ours; nothing is loaded for it."""
    return sorted(tool_names(), key=lambda name: (name[0].isupper(), name))


def catalog() -> dict[str, dict[str, Any]]:
    """What each analysis does, and its options."""
    return {
        name: {"does": " ".join(spec.description.split()), "options": _options(spec)}
        for name, spec in sorted(_specs().items())
    }


def _options(spec: ToolSpec) -> dict[str, str]:
    return {name: row.get("description", "") for name, row in spec.input_schema.get("properties", {}).items()}


@cache
def _specs() -> dict[str, ToolSpec]:
    """What our tools declare, asked once: the worker loads every one of them for it."""
    with Toolbelt(Scope.of(TOOLS)) as toolbelt:
        return toolbelt.specs()


def told(result: ToolResult) -> Said:
    """A tool's result as an answer: a failure is one, and nothing to look at is not."""
    if result.status == "failed":
        return Said({}, result.reason, failed=True)
    if result.status == "no_data":
        return Said({"no_data": result.reason}, result.reason)
    from traindx.brains.llm.tool_runner import PICTURES

    # Pictures are resources: a host that wants one reads it there.
    return Said({key: value for key, value in result.output.items() if key != PICTURES and value not in (None, [], {})})


def analysis_offers() -> dict[str, Offer]:
    """Each of our analyses as a tool of its own, from the same declarations."""
    return {name: _offer(spec) for name, spec in _specs().items()}


def _offer(spec: ToolSpec) -> Offer:
    properties = {RUN_FIELD: {"type": "string", "description": RUN}, **spec.input_schema.get("properties", {})}
    schema = {**spec.input_schema, "properties": properties}

    async def answer(given: Mapping[str, Any], asked: Asked) -> Said:
        from traindx.pipeline.inputs import open_run

        options = {key: value for key, value in given.items() if key != RUN_FIELD}
        path = given.get(RUN_FIELD, ".")
        if not isinstance(path, str):
            raise UsageError(f"`{RUN_FIELD}` is a path, not {path!r:.60}")
        place = asked.resolve(path)
        asked.tell(f"{spec.name} on {path}")
        with open_run(place) as run:
            return told(await asyncio.to_thread(run.toolbelt.call, spec.name, options))

    return Offer(
        name=spec.name,
        title=spec.name.replace("_", " "),
        description=spec.description,
        input_schema={"type": "object", **compact(schema)},
        output_schema={"type": "object"},
        answer=answer,
        narrow="its options narrow the answer",
    )
