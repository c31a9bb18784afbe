"""The diagnosis as a Markdown document."""

from __future__ import annotations

import re

from traindx.contract import Diagnosis
from traindx.definitions.content import PROMPTS
from traindx.report.canvas import visible

FOLDER = PROMPTS / "report"


def as_markdown(diagnosis: Diagnosis, title: str) -> str:
    """Every part of the diagnosis, for an issue, a wiki page or a pull request."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 - quotes go into code spans, whose fences are made long enough below
    )
    environment.filters["code"] = _code_span
    environment.filters["block"] = _code_block
    environment.filters["line"] = _one_line
    text = environment.get_template("diagnosis.md.j2").render(diagnosis=diagnosis, title=title)
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
