"""Choosing the brain."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from traindx.pipeline.options import OF_MODEL, Choices

if TYPE_CHECKING:
    from traindx.brains.llm import ClaudeBrain, ClaudeOptions

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")


def wants_claude(choices: Choices) -> bool:
    """Whether the choices, and the keys in the environment, lead to Claude."""
    name = choices.get("brain", "auto")
    return name == "claude" or (name == "auto" and any(os.environ.get(key) for key in KEYS))


def claude_options(choices: Choices) -> ClaudeOptions:
    """The choices about the model, as the brain takes them."""
    from traindx.brains.llm import ClaudeOptions

    base = choices.get("options") or ClaudeOptions()
    given = {name: choices[name] for name in OF_MODEL if name in choices}  # type: ignore[literal-required]
    return replace(base, **given)


def claude(choices: Choices, stop: asyncio.Event | None) -> ClaudeBrain:
    """The brain with a model."""
    from traindx.brains.llm import ClaudeBrain

    return ClaudeBrain(claude_options(choices), stop)
