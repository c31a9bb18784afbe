"""The skill's references: the catalog, the checklist and the fixes as pages that need no server."""

from __future__ import annotations

import re

from traindx.diagnosis.catalog import load_catalog
from traindx.diagnosis.references import load_references
from traindx.diagnosis.templates import load_templates

FOLDER = "skills/ml-training-debugger/references"
CHECKLIST = "debugging-checklist"


def references() -> dict[str, str]:
    """Every page by its path in the repository."""
    return {
        f"{FOLDER}/common-failure-modes.md": _failure_modes(),
        f"{FOLDER}/{CHECKLIST}.md": load_references()[CHECKLIST].strip() + "\n",
        f"{FOLDER}/fix-templates.md": _fixes(),
    }


def _failure_modes() -> str:
    modes = load_catalog().values()
    parts = ["# Common failure modes", "", "The tool `explain` has each of them in full; so has `traindx explain ID`."]
    for specialist in sorted({mode.specialist for mode in modes}):
        parts += ["", f"## {specialist}", ""]
        for mode in modes:
            if mode.specialist == specialist:
                parts.append(f"- **{mode.id}** ({mode.severity}): {mode.title}. {_shows(mode.body)}".rstrip())
    return "\n".join(parts) + "\n"


def _shows(body: str) -> str:
    """The first thing by which it shows: a sentence, or the first point of a list; a table says too much."""
    match = re.search(r"^## How it shows\s*$\s*(.*?)(?=\n\s*\n|^## |\Z)", body.replace("\n- ", "\n\n- "), _ACROSS)
    text = " ".join(match[1].split()).removeprefix("- ") if match else ""
    return "" if text.startswith("|") else text


_ACROSS = re.MULTILINE | re.DOTALL


def _fixes() -> str:
    parts = ["# Fix templates", "", "The tool `explain` fills them in with the names and values of a run."]
    for template in load_templates().values():
        parts += ["", f"## {template.title}", "", f"For: {', '.join(template.mends)}.", "", template.filled({}).strip()]
    return "\n".join(parts) + "\n"
