"""Longer texts to read: `prompts/references/`, by the names of their files."""

from __future__ import annotations

from functools import cache

from traindx.definitions.content import PROMPTS

FOLDER = PROMPTS / "references"


@cache
def load_references() -> dict[str, str]:
    """Every text by its name."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.md"))}
