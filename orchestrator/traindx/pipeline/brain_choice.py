"""Choosing the brain."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from traindx.errors import UsageError
from traindx.pipeline.options import OF_MODEL, Choices

if TYPE_CHECKING:
    from traindx.brains.llm import ClaudeBrain, ClaudeOptions

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
NAMES = ("auto", "local", "claude")


def wants_claude(choices: Choices) -> bool:
    """Whether the choices, and the keys in the environment, lead to Claude."""
    name = choices.get("brain", "auto")
    if name not in NAMES:
        raise UsageError(f"there is no brain `{name}`: use one of {', '.join(NAMES)}")
    return name == "claude" or (name == "auto" and any(os.environ.get(key) for key in KEYS))


def claude_options(choices: Choices) -> ClaudeOptions:
    """The choices about the model, as the brain takes them."""
    from traindx.brains.llm import ClaudeOptions

    base = choices.get("options") or ClaudeOptions()
    given = {name: choices[name] for name in OF_MODEL if name in choices}  # type: ignore[literal-required]
    usd = given.get("max_usd", base.max_usd)
    if isinstance(usd, int | float) and usd < 0:
        raise UsageError(f"the budget cannot be {usd} dollars")
    return replace(base, **given)


def claude(choices: Choices, stop: asyncio.Event | None) -> ClaudeBrain:
    """The brain with a model."""
    from traindx.brains.llm import ClaudeBrain

    return ClaudeBrain(claude_options(choices), stop)
