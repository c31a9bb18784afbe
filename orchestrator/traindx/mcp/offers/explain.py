"""`explain`: a failure mode, a checklist or a fix as code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from traindx.mcp.answering import parsed
from traindx.mcp.offer import RUN, Asked, Offer, Result, Said, input_schema, output_schema
from traindx.runtime import ToolInput


class Input(ToolInput):
    """What to explain."""

    id: str = Field(default="", description="e.g. exploding-gradients, clip-gradients, debugging-checklist; empty: all")
    run: str = Field(default="", description=f"fills a fix with the names and values of this run; {RUN}")


class Page(Result):
    """A page, or the list of all."""

    id: str = ""
    title: str = ""
    text: str = ""
    failure_modes: dict[str, str] = Field(default_factory=dict)
    fix_templates: dict[str, str] = Field(default_factory=dict)
    references: list[str] = Field(default_factory=list)


async def answer(given: Mapping[str, Any], asked: Asked) -> Said:
    """The page, as Markdown."""
    from traindx.diagnosis.catalog import load_catalog
    from traindx.diagnosis.references import load_references
    from traindx.diagnosis.templates import load_templates
    from traindx.errors import UsageError, did_you_mean

    wanted = parsed("explain", Input, given)
    name = wanted.id.strip()
    catalog, templates, references = load_catalog(), load_templates(), load_references()
    if not name:
        modes = {mode.id: mode.title for mode in catalog.values()}
        fixes = {one.name: one.title for one in templates.values()}
        return Said({"failure_modes": modes, "fix_templates": fixes, "references": list(references)})
    if name in catalog:
        mode = catalog[name]
        head = f"{mode.title} (severity {mode.severity}, {mode.specialist})"
        return _page(name, head, f"# {name}\n\n{head}\n\n{mode.body.strip()}\n")
    if name in templates:
        text = templates[name].filled(*await _of_the_run(wanted.run, asked))
        return _page(name, templates[name].title, text)
    if name in references:
        return _page(name, name.replace("-", " "), references[name])
    hint = did_you_mean(name, [*catalog, *templates, *references]) or " Without an id, all of them are listed."
    raise UsageError(f"there is no page `{name[:100]}`.{hint}")


def _page(name: str, title: str, text: str) -> Said:
    return Said({"id": name, "title": title, "text": text}, text)


async def _of_the_run(run: str, asked: Asked) -> tuple[dict[str, str], list[Any]]:
    if not run:
        return {}, []
    from traindx.api import open_session

    async with open_session(asked.resolve(run), brain="local") as session:
        context = await session.context()
    return context.names, context.settings


OFFER = Offer(
    name="explain",
    title="Explain a failure mode or a fix",
    description="What a training failure is, how it shows, how to tell it from its neighbours, how to fix and verify"
    " it; the debugging checklist; a fix as code (gradient clipping, warm-up, detach, AMP order, OOM, resume).",
    input_schema=input_schema(Input),
    output_schema=output_schema(Page),
    answer=answer,
)
