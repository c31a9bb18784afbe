"""The same markdown and the same tools inside the Claude Agent SDK, with its own `claude`."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hosts.clients import environment
from traindx.definitions.content import EXAMPLES
from traindx.testing import Received, ScriptedMessagesServer, Turn, call, say

pytest.importorskip("claude_agent_sdk", reason="`make clients` installs the Claude Agent SDK")
pytest.importorskip("mcp")


def test_the_specialists_are_those_of_the_markdown() -> None:
    from traindx.agents import as_claude_agents

    agents = as_claude_agents()
    assert sorted(agents) == ["ml-debugger", "state-debugger", "training-monitor"]
    for agent in agents.values():
        assert agent.tools == ["Read", "Grep", "Glob", "mcp__traindx"]
        assert "## In other hosts" in agent.prompt
        assert agent.model == "sonnet"


def test_a_server_of_another_name_is_named_in_the_tools() -> None:
    from traindx.agents import as_claude_agents

    tools = as_claude_agents("debugging")["ml-debugger"].tools or []
    assert tools[-1] == "mcp__debugging"


def test_every_tool_function_is_in_the_server() -> None:
    from mcp.client.client import Client

    from traindx.mcp import claude_server

    async def words() -> tuple[set[str], str]:
        async with Client(claude_server(EXAMPLES)["instance"]) as served:
            tools = {tool.name for tool in (await served.list_tools()).tools}
            result = await served.call_tool("analyze_loss_curve", {"run": "schedule-change"})
            return tools, result.structured_content["signals"][0]["id"]

    tools, signal = asyncio.run(words())
    assert tools >= {"analyze_loss_curve", "inspect_checkpoint", "diagnose", "verify_evidence"}
    assert signal == "loss-diverged"


@pytest.mark.slow
def test_the_example_dispatches_a_specialist_that_diagnoses(tmp_path: Path) -> None:
    def step(request: Received) -> Turn:
        tools = {tool["name"] for tool in request.body.get("tools", [])}
        results = [
            block
            for message in request.body["messages"]
            if isinstance(message["content"], list)
            for block in message["content"]
            if block["type"] == "tool_result"
        ]
        if "Agent" in tools:
            sent = {"subagent_type": "training-monitor", "description": "look", "prompt": "it diverged"}
            return say(json.dumps(results[0]["content"])) if results else call("Agent", sent)
        if not results:
            return call("mcp__traindx__diagnose", run=".", message="it diverged")
        content = results[0]["content"]
        text = content if isinstance(content, str) else content[0]["text"]
        return say(json.loads(text)["root_causes"][0]["id"])

    with ScriptedMessagesServer() as service:
        service.script(step, forever=True)
        done = subprocess.run(
            [
                sys.executable,
                str(EXAMPLES / "agent-sdk" / "diagnose.py"),
                str(EXAMPLES / "schedule-change"),
                "it diverged",
            ],
            env=environment(
                tmp_path,
                ANTHROPIC_BASE_URL=service.url,
                ANTHROPIC_API_KEY="sk-dummy",
                CLAUDE_CODE_DISABLE_BACKGROUND_TASKS="1",
            ),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert "lr-schedule-spike" in done.stdout
