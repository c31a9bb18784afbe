"""Where the content lives: agents, tools, prompts and examples, in a checkout and in a wheel alike."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
_IN_WHEEL = PACKAGE / "_content"

ROOT = _IN_WHEEL if _IN_WHEEL.is_dir() else PACKAGE.parents[1]
AGENTS = ROOT / "agents"
TOOLS = ROOT / "tools"
PROMPTS = ROOT / "prompts"
EXAMPLES = ROOT / "examples"
