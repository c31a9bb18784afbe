"""What the catalog's page about a failure mode says."""

from __future__ import annotations

import re

from traindx.catalog import FailureMode


def first_paragraph(mode: FailureMode, heading: str) -> str:
    """The opening of a section, as one line of prose."""
    match = re.search(rf"^## {re.escape(heading)}\s*$\s*(.*?)(?=\n\s*\n|^## |\Z)", mode.body, re.MULTILINE | re.DOTALL)
    return " ".join(match[1].split()) if match else ""


def sentences_about(mode: FailureMode, headings: tuple[str, ...], subject: re.Pattern[str]) -> list[str]:
    """The sentences under these headings that speak of something; code is left out."""
    found: list[str] = []
    for heading in headings:
        match = re.search(rf"^## {re.escape(heading)}\s*$(.*?)(?=^## |\Z)", mode.body, re.MULTILINE | re.DOTALL)
        prose = re.sub(r"```.*?```", "\n\n", match[1] if match else "", flags=re.DOTALL)
        for block in re.split(r"\n\s*\n|^\s*- ", prose, flags=re.MULTILINE):
            whole = " ".join(block.split())
            found += [row for row in re.split(r"(?<=[.!?])\s+(?=[A-Z`])", whole) if subject.search(row)]
    return list(dict.fromkeys(found))
