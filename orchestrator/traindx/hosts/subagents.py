"""What agent hosts need in the specialists' files: prefixed tool names, and the rules for working elsewhere."""

from __future__ import annotations

import re

from traindx.agents.load import ELSEWHERE, READ_ONLY, TOOLBELT
from traindx.definitions.content import AGENTS, PROMPTS

RULES = PROMPTS / "hosts" / "in-other-hosts.md"


def subagents() -> dict[str, str]:
    """Our specialists' files as they should be, by their path in the repository."""
    rules = RULES.read_text(encoding="utf-8").strip()
    return {
        f"agents/{path.name}": _renewed(path.read_text(encoding="utf-8"), rules) for path in sorted(AGENTS.glob("*.md"))
    }


def _renewed(text: str, rules: str) -> str:
    tools = ", ".join([*READ_ONLY, TOOLBELT])
    text = re.sub(r"^tools:.*$", f"tools: {tools}", text, count=1, flags=re.MULTILINE)
    kept, _, _ = text.partition(f"## {ELSEWHERE}\n")
    return f"{kept.rstrip()}\n\n## {ELSEWHERE}\n\n{rules}\n"
