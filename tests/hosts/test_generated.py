"""What hosts read of this repository: fresh, complete, and without a tool that writes."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from traindx.definitions.content import AGENTS, ROOT
from traindx.definitions.version import __version__
from traindx.diagnosis.catalog import load_catalog
from traindx.hosts.generated import generated
from traindx.hosts.manifests import LAUNCHER

SKILL = ROOT / "skills" / "ml-training-debugger"
IN_CHECKOUT = pytest.mark.skipif(not (ROOT / "pyproject.toml").is_file(), reason="the generated files need a checkout")


@IN_CHECKOUT
def test_every_generated_file_is_fresh() -> None:
    old = [path for path, text in generated().items() if (ROOT / path).read_text(encoding="utf-8") != text]
    assert old == []


@IN_CHECKOUT
def test_every_manifest_is_json_and_starts_the_same_server_in_the_same_version() -> None:
    files = {path: json.loads(text) for path, text in generated().items() if path.endswith(".json")}
    assert {row["version"] for row in files.values() if "version" in row} == {__version__}
    started = [
        server["args"][0]
        for row in files.values()
        for key in ("mcpServers", "servers")
        if isinstance(row.get(key), dict)
        for server in row[key].values()
    ]
    assert len(started) == 4
    assert all(path.replace("${/}", "/").endswith(LAUNCHER) for path in started)
    assert (ROOT / LAUNCHER).is_file()


def front_matter(text: str) -> dict[str, object]:
    found: dict[str, object] = yaml.safe_load(text.split("---\n")[1])
    return found


def test_the_skill_has_the_form_that_every_host_reads() -> None:
    text = (SKILL / "SKILL.md").read_text(encoding="utf-8")
    head = front_matter(text)
    assert set(head) <= {"name", "description", "license", "compatibility", "metadata"}
    assert head["name"] == SKILL.name
    assert 0 < len(str(head["description"])) <= 1024
    assert text.count("\n") < 500
    for link in re.findall(r"\]\((references/[^)]+)\)", text):
        assert (SKILL / link).is_file()
    for script in re.findall(r"python (scripts/\S+)", text):
        assert (SKILL / script).is_file()


def test_the_skill_names_every_failure_mode() -> None:
    text = (SKILL / "references" / "common-failure-modes.md").read_text(encoding="utf-8")

    assert all(f"**{name}**" in text for name in load_catalog())


@pytest.mark.parametrize("path", sorted(AGENTS.glob("*.md")), ids=lambda path: path.stem)
def test_a_subagent_has_no_tool_that_changes_anything(path: object) -> None:
    text = path.read_text(encoding="utf-8")  # type: ignore[attr-defined]
    tools = [name.strip() for name in str(front_matter(text)["tools"]).split(",")]
    assert tools == ["Read", "Grep", "Glob", "mcp__plugin_traindx_traindx"]
    rules = text.split("## In other hosts\n")[1]
    for words in ("verify_evidence", "pip install 'traindx[mcp]'", "Read, Grep and Glob", "JSON object"):
        assert words in rules
