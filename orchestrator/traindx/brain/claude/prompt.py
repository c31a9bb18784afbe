"""What the model is told: the specialist, the rules, the case."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from traindx.brain.claude.framing import framed
from traindx.brain.claude.package import leads_text, package_text
from traindx.brain.claude.reply import Block
from traindx.brain.interface import Case, Findings
from traindx.content import PROMPTS
from traindx.contract import RootCause

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = PROMPTS / "investigation"
CACHED = {"type": "ephemeral"}


def system_prompt(case: Case) -> str:
    """The specialist's own prompt and the rules of the house; the same for every turn, and for every run."""
    modes = [(mode.id, mode.title) for mode in case.catalog.values()]
    return rendered("system", specialist=case.specialist, modes=modes, project=case.context.project)


def opening(case: Case, local: Findings) -> str:
    """The first message: what the user says, what the run left, what the local investigator found."""
    return rendered(
        "case",
        message=case.request.message,
        kind=case.request.kind,
        symptoms=[row.replace("<", "&lt;") for row in case.request.symptoms],
        package=framed(package_text(case.context), "context package"),
        leads=framed(leads_text(local), "leads"),
        verdict=local.status,
    )


def sceptic_prompt(case: Case) -> str:
    """The system prompt of the one who doubts."""
    return rendered("sceptic", specialist=case.specialist.name)


def challenge(case: Case, cause: RootCause) -> str:
    """What the sceptic is to refute."""
    return rendered(
        "claim",
        cause=cause,
        claim=framed(cause.model_dump_json(indent=1, exclude={"fix", "specialist"}), "the colleague's answer"),
        package=framed(package_text(case.context), "context package"),
    )


def rendered(name: str, **values: Any) -> str:
    """A template of `prompts/investigation/`."""
    return _templates().get_template(f"{name}.md.j2").render(**values).strip()


def system_blocks(text: str) -> list[Block]:
    """The system prompt as one block that stays in the cache."""
    return [{"type": "text", "text": text, "cache_control": CACHED}]


def with_breakpoints(messages: list[Block]) -> list[Block]:
    """The messages with a cache mark at the end of the first and of the latest one; at most four are allowed."""
    marked = list(messages)
    for index in {0, len(messages) - 1}:
        message = messages[index]
        if message["role"] == "user" and message["content"]:
            *before, last = message["content"]
            marked[index] = {**message, "content": [*before, {**last, "cache_control": CACHED}]}
    return marked


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(  # the output is a prompt; artifacts' text is escaped by `framing`
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701
    )
