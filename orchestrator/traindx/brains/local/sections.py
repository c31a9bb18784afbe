"""Answering under the specialist's own headings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from traindx.agents import Specialist
from traindx.contract import ContextPackage, RootCause, Signal, Status
from traindx.definitions.content import PROMPTS
from traindx.diagnosis.wording import fact_text

if TYPE_CHECKING:
    from jinja2 import Environment, Template

FOLDER = PROMPTS / "sections"
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Answer:
    """What the templates may speak of."""

    status: Status
    causes: list[RootCause]
    signals: list[Signal]
    excluded: list[str]
    questions: list[str]
    context: ContextPackage


def sections_for(specialist: Specialist, answer: Answer) -> dict[str, str]:
    """The specialist's report: every one of its headings, in its order, with text under each."""
    text = _template(specialist).render(headings=specialist.headings, **vars(answer))
    parts = HEADING.split(text)[1:]
    found = {heading.strip(): _tidy(body) for heading, body in zip(parts[::2], parts[1::2], strict=True)}
    return {heading: found[heading] for heading in specialist.headings}


def compile_sections(specialists: Iterable[Specialist]) -> None:
    """Make the specialists' templates ready."""
    for specialist in specialists:
        _template(specialist)


def _template(specialist: Specialist) -> Template:
    own = FOLDER / f"{specialist.name}.md.j2"
    return _templates().get_template(own.name if own.is_file() else "_any.md.j2")


def _tidy(body: str) -> str:
    return re.sub(r"\n{2,}(?=- )|\n{3,}", "\n", body).strip()


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(  # the output is Markdown and plain text, which has nothing to escape
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        finalize=fact_text,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701
    )
