"""`AGENTS.md`: what any agent that opens this repository should know."""

from __future__ import annotations

from traindx.agents import load_specialists
from traindx.definitions.content import PROMPTS
from traindx.runtime.discovery import tool_names

PATH = "AGENTS.md"
_WORKING_ON_IT = """\
## Working on this repository

- `make quick` runs the fast tests, `make check` everything that CI runs; both make their own environment in `.venv`.
- One unit, one file: a tool in `tools/`, a specialist in `agents/`, a failure mode in `prompts/failure_modes/`.
  `docs/where.md` says which file any other change touches, `docs/architecture.md` why, `CONTRIBUTING.md` in which
  style.
- This file, the plugin manifests, the skill's references and the specialists' tool lines are generated: after a change
  to the catalog, the specialists or pyproject, `make hosts`.
"""


def guide() -> str:
    """The page."""
    instructions = (PROMPTS / "hosts" / "server-instructions.md").read_text(encoding="utf-8").strip()
    rows = [f"- `{one.name}`: {one.summary}" for one in load_specialists(tool_names()).values()]
    return "\n".join(
        [
            "# traindx, for agents",
            "",
            instructions,
            "",
            "The tools come from the MCP server `traindx` (`traindx mcp`; `traindx setup` enters it into this machine's"
            " hosts).",
            "The skill `ml-training-debugger` says how to work with them. Without a server: `traindx diagnose PATH -m"
            ' "…" --json`.',
            "",
            "Specialists (subagents where the host has them, prompts of the server elsewhere):",
            "",
            *rows,
            "",
            _WORKING_ON_IT,
        ]
    )
