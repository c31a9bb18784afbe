"""Ask Claude why a run went wrong, from Python: our specialists and our tools inside the Claude Agent SDK.

pip install 'traindx[agent-sdk]'
export ANTHROPIC_API_KEY=…
python examples/agent-sdk/diagnose.py examples/schedule-change "the loss went up after epoch 7"
"""

import asyncio
import os
import sys
from pathlib import Path

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query

from traindx.agents import as_claude_agents
from traindx.mcp import claude_server


def options(run: str) -> ClaudeAgentOptions:
    """The specialists and the tools, and nothing else that could change anything."""
    return ClaudeAgentOptions(
        cwd=run,
        agents=as_claude_agents(),
        mcp_servers={"traindx": claude_server(run)},
        tools=["Agent", "Read", "Grep", "Glob"],
        allowed_tools=["Agent", "Read", "Grep", "Glob", "mcp__traindx"],
        permission_mode="dontAsk",
        setting_sources=[],
        # The installed command is used where it is named; else the one that comes with the SDK.
        cli_path=os.environ.get("CLAUDE_COMMAND"),
    )


async def diagnose(run: str, message: str) -> str:
    """Let the fitting specialist investigate, and return what comes back."""
    task = (
        "Find out why the training run in the current folder went wrong. Send the specialist whose description fits,"
        f" with these words of the user to the letter, and repeat its diagnosis.\n\n{message}"
    )
    answer = ""
    async for event in query(prompt=task, options=options(run)):
        if isinstance(event, ResultMessage):
            answer = event.result or ""
    return answer


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    print(asyncio.run(diagnose(str(Path(sys.argv[1]).resolve()), " ".join(sys.argv[2:]))))
