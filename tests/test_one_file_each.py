"""Promises of the documentation: one file adds a tool, a failure mode, an error pattern, a code rule, a log format, an
agent or a report format to a project, and nothing else has to be touched.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from traindx import diagnose
from traindx.agents import load_specialists
from traindx.api import gather_context
from traindx.contract import Diagnosis
from traindx.definitions.rules import CodeRule, ErrorPattern, LogFormat, load_rules
from traindx.diagnosis.catalog import HEADINGS
from traindx.errors import DefinitionError
from traindx.report import render
from traindx.runtime import tool_names

MODE = """\
---
id: {id}
title: something of ours is wrong
specialist: ml-debugger
severity: high
for:
  {signal}: decisive, direct
issue: ["It is {id}"]
fix: {{summary: [Mend it], expected: [It holds], verify: [Look], fallback: [Look again]}}
asks: [What broke?]
---
"""
TOOL = '''\
"""Whether the run used our old cluster."""

from traindx.contract import Citation, Signal
from traindx.readers import Run
from traindx.runtime import ToolInput, ToolOutput, tool


class Input(ToolInput):
    """Nothing to choose."""


@tool(emits={"old-cluster": "the run used the old cluster"})
def find_cluster(given: Input, run: Run) -> ToolOutput:
    """Find the name of the cluster in the logs."""
    place = Citation(claim="the old cluster", source="train.log", locator="line 1", quote="host: zeus")
    return ToolOutput(signals=[Signal(id="old-cluster", claim="the run used zeus", citations=[place])])
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    run = tmp_path / "runs" / "one"
    run.mkdir(parents=True)
    (tmp_path / ".traindx").mkdir()
    (run / "train.log").write_text("host: zeus\n" + "".join(f"epoch {n} loss {2 / n:.4f}\n" for n in range(1, 9)))
    return tmp_path


def add(project: Path, kind: str, name: str, text: str) -> None:
    folder = project / ".traindx" / kind
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)


def add_mode(project: Path, name: str, signal: str) -> None:
    page = "".join(f"## {heading}\nx\n" for heading in HEADINGS)
    add(project, "failure_modes", f"{name}.md", MODE.format(id=name, signal=signal) + page)


def diagnosed(project: Path) -> Diagnosis:
    return diagnose(project / "runs" / "one", brain="local")


def test_a_tool_and_a_failure_mode(project: Path) -> None:
    assert diagnosed(project).status == "healthy"
    add(project, "tools", "find_cluster.py", TOOL)
    add_mode(project, "wrong-cluster", "old-cluster")
    found = diagnosed(project)
    assert (found.root_causes[0].id, found.status) == ("wrong-cluster", "diagnosis_complete")
    assert found.root_causes[0].evidence[0].verified
    assert "find_cluster" in [use.tool for use in found.provenance.tools]


def test_an_error_pattern(project: Path) -> None:
    log = project / "runs" / "one" / "train.log"
    log.write_text(
        log.read_text() + 'Traceback (most recent call last):\n  File "a.py", line 3, in f\n'
        "acme.QuotaError: tokens of team blue are used up\n"
    )
    assert diagnosed(project).root_causes[0].id == "unhandled-exception"
    add(project, "error_patterns", "error-quota.yaml", "means: the quota is used up\nmatches: [QuotaError]\n")
    add_mode(project, "quota-used-up", "error-quota")
    assert diagnosed(project).root_causes[0].id == "quota-used-up"


def test_a_code_rule(project: Path) -> None:
    (project / "runs" / "one" / "train.py").write_text("import acme\n\nacme.legacy_init(\n    seed=1,\n)\n")
    add(project, "code_rules", "legacy-init.yaml", "means: legacy_init is broken\nstatement: legacy_init\\(seed=\n")
    add_mode(project, "legacy-init-used", "legacy-init")
    found = diagnosed(project).root_causes[0]
    assert found.id == "legacy-init-used"
    assert [(piece.source, piece.locator) for piece in found.evidence] == [("train.py", "line 3")]


def test_a_log_format(project: Path) -> None:
    run = project / "runs" / "one"
    (run / "train.log").write_text("".join(f"@{n}|{3 - n / 10:.2f}|ok\n" for n in range(1, 11)))
    assert [row.name for row in gather_context(run).series] != ["train/loss"]
    form = "line: '^@(?P<step>\\d+)\\|(?P<train_loss>[-+.\\d]+)\\|'\n"
    add(project, "log_formats", "acme.yaml", form)
    series = gather_context(run).series
    assert [(row.name, row.axis, row.points, row.last) for row in series] == [("train/loss", "step", 10, 2.0)]


def test_an_agent(project: Path) -> None:
    text = (
        "---\nname: data-auditor\ndescription: Looks for leaks and labels that do not fit.\n"
        "tools: Read, mcp__plugin_traindx_traindx\ndisallowedTools: mcp__plugin_traindx_traindx__explain_error\n---\n"
        "You audit data.\n\n## Report headings\n1. **Findings**: what is wrong\n"
    )
    add(project, "agents", "data-auditor.md", text)
    add(project, "tools", "find_cluster.py", TOOL)
    tools = tool_names([project / ".traindx" / "tools"])
    sent = load_specialists(tools, [project / ".traindx" / "agents"])["data-auditor"]
    assert set(sent.tools) == set(tools) - {"explain_error"}
    led = diagnose(project / "runs" / "one", brain="local", specialist="data-auditor")
    assert list(led.sections) == ["Findings"]


def test_a_report_format(project: Path) -> None:
    add(project, "reports", "slack.txt.j2", "{{ diagnosis.status }}: {{ diagnosis.summary }}\n")
    text = render(diagnosed(project), "slack", folders=[project / ".traindx" / "reports"])
    assert text.startswith("healthy: ")


@pytest.mark.parametrize(
    ("kind", "rule", "text", "said"),
    [
        (
            "error_patterns",
            ErrorPattern,
            "means: x\nmatchs: [y]\n",
            r"x\.yaml:2: unknown key `matchs`. Did you mean `matches`",
        ),
        ("error_patterns", ErrorPattern, "means: x\nmatches: ['(']\n", r"x\.yaml:2: .*not a regular expression"),
        ("code_rules", CodeRule, "means: x\n", r"x\.yaml:1: `statement` is missing"),
        ("log_formats", LogFormat, "line: abc\n", r"x\.yaml:1: .*needs named groups"),
        ("log_formats", LogFormat, "line: [\n", r"x\.yaml:\d: not valid YAML"),
    ],
)
def test_a_wrong_file_is_named_with_its_line(
    project: Path, kind: str, rule: type[ErrorPattern | CodeRule | LogFormat], text: str, said: str
) -> None:
    add(project, kind, "x.yaml", text)
    with pytest.raises(DefinitionError, match=said):
        load_rules(rule, project / ".traindx")


def test_a_failure_mode_that_names_a_signal_nobody_emits_is_refused(project: Path) -> None:
    add(project, "tools", "find_cluster.py", TOOL)
    add_mode(project, "wrong-cluster", "old-clutser")
    with pytest.raises(DefinitionError, match=r"wrong-cluster\.md:7: no tool emits .*Did you mean `old-cluster`"):
        diagnosed(project)
