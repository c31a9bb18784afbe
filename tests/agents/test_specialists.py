"""Specialists are markdown files, read strictly."""

from pathlib import Path

import pytest

from traindx.agents import load_specialists
from traindx.agents.load import load_specialist
from traindx.errors import DefinitionError
from traindx.runtime import tool_names

TOOLS = tool_names([])
GOOD = """\
---
name: {name}
description: Looks after the widgets of a training run whenever they rattle.
tools: Read, Grep, mcp__plugin_traindx_traindx__analyze_loss_curve
model: sonnet
---
You look after widgets.

## Report headings
1. **Widget Status**: how they are
2. **Fix**: what to do
"""
HEADINGS = {
    "state-debugger": [
        "State Management Assessment",
        "Issues Identified",
        "Memory Implications",
        "Gradient Flow Status",
        "Recommended Fixes",
        "Verification Steps",
    ],
    "training-monitor": [
        "Training Status Summary",
        "Key Findings",
        "Recommended Actions",
        "Expected Outcomes",
        "Monitoring Plan",
    ],
    "ml-debugger": ["Error Summary", "Root Cause", "Evidence", "Fix", "Prevention"],
}


def agent(folder: Path, text: str = GOOD, name: str = "widget-watcher") -> Path:
    path = folder / f"{name}.md"
    path.write_text(text.replace("{name}", name))
    return path


@pytest.mark.parametrize("name", HEADINGS)
def test_our_specialists_keep_their_report_headings(name: str) -> None:
    specialist = load_specialists(TOOLS)[name]
    assert list(specialist.headings) == HEADINGS[name]
    assert {"Read", "Grep", "Glob"} <= set(specialist.tools)
    assert len(specialist.prompt.splitlines()) > 60


def test_a_project_adds_a_specialist_with_one_file(tmp_path: Path) -> None:
    agent(tmp_path)
    found = load_specialists(TOOLS, [tmp_path])["widget-watcher"]
    assert found.tools == ("Read", "Grep", "analyze_loss_curve")
    assert found.headings == ("Widget Status", "Fix")


def test_a_list_of_tools_may_be_yaml(tmp_path: Path) -> None:
    path = agent(
        tmp_path, GOOD.replace("tools: Read, Grep, mcp__plugin_traindx_traindx__analyze_loss_curve", "tools: [Read]")
    )
    assert load_specialist(path, TOOLS).tools == ("Read",)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("model: sonnet", "modle: sonnet", r"widget-watcher\.md:5: unknown key `modle`. Did you mean `model`\?"),
        ("model: sonnet", "model: sonet", r"widget-watcher\.md:5: .*Did you mean `sonnet`\?"),
        ("model: sonnet", "model: gpt-9", r"widget-watcher\.md:5: .*unknown model"),
        ("model: sonnet", "memory: user", r"widget-watcher\.md:5: .*read-only specialist"),
        ("tools: Read, Grep", "tools: Raed, Grep", r"widget-watcher\.md:4: unknown tool `Raed`. Did you mean `Read`\?"),
        ("__analyze_loss_curve", "__analyse_loss_curve", r":4: unknown tool .*Did you mean `analyze_loss_curve`\?"),
        ("tools: Read, Grep", "disallowedTools: Read, Grep", r"`tools` is missing"),
        ("name: {name}", "name: other", r"widget-watcher\.md:2: .*differ"),
        ("name: {name}", "name: [x", r"widget-watcher\.md:\d+: not valid YAML"),
        ("## Report headings", "## Report", r"needs a section `## Report headings`"),
        ("---\nname", "name", r"widget-watcher\.md:1: must start with `---`"),
    ],
)
def test_a_wrong_file_is_named_with_line_and_spelling(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    path = agent(tmp_path, GOOD.replace(old, new))
    with pytest.raises(DefinitionError, match=complaint):
        load_specialist(path, TOOLS)


def test_a_second_agent_of_the_same_name_is_refused(tmp_path: Path) -> None:
    agent(tmp_path, name="ml-debugger")
    with pytest.raises(DefinitionError, match="already defined"):
        load_specialists(TOOLS, [tmp_path])


def test_a_binary_file_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "noise.md"
    path.write_bytes(b"\xff\xfe\x00\x81" * 50)
    with pytest.raises(DefinitionError, match=r"noise\.md:1: cannot be read"):
        load_specialist(path, TOOLS)
