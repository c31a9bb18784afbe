"""The diagnosis through a template: Markdown, or whatever a project writes."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from traindx.contract import Diagnosis
from traindx.definitions.visible import visible
from traindx.errors import DefinitionError
from traindx.report.repetition import unsaid


def as_document(template: Path, diagnosis: Diagnosis, title: str) -> str:
    """The diagnosis as the template writes it; raises `DefinitionError` where the template is wrong."""
    from jinja2 import FileSystemLoader, StrictUndefined, TemplateError
    from jinja2.sandbox import SandboxedEnvironment

    # A template of a cloned repository is a stranger's: it sees values, and can call nothing that changes them.
    environment = SandboxedEnvironment(
        loader=FileSystemLoader(template.parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # quotes go into code spans, whose fences are made long enough below
    )
    environment.filters["code"] = _code_span
    environment.filters["block"] = _code_block
    environment.filters["line"] = _one_line
    environment.filters["unsaid"] = partial(unsaid, diagnosis=diagnosis)
    try:
        text = environment.get_template(template.name).render(diagnosis=diagnosis, title=title)
    except TemplateError as error:
        raise DefinitionError(template, getattr(error, "lineno", None) or 1, f"cannot be rendered: {error}") from None
    return re.sub(r"\n{3,}", "\n\n", visible(text)).strip() + "\n"


def _longest_run(text: str, mark: str) -> int:
    return max((len(run) for run in re.findall(f"{mark}+", text)), default=0)


def _code_span(text: str) -> str:
    """A code span that the text cannot close: its fence is longer than any run of backticks inside."""
    fence = "`" * (_longest_run(text, "`") + 1)
    words = " ".join(text.split())
    pad = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{fence}{pad}{words}{pad}{fence}" if words else ""


def _code_block(text: str, language: str = "") -> str:
    fence = "`" * max(3, _longest_run(text, "`") + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _one_line(text: str) -> str:
    """One line of prose; markup that an artifact smuggled in shows as text, our own code spans stay."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(part if index % 2 else re.sub(r"([<>\[\]|*_])", r"\\\1", part) for index, part in enumerate(parts))
