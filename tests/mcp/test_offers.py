"""What the server offers, through the client of the `mcp` package."""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from traindx.definitions.content import EXAMPLES

pytest.importorskip("mcp")
pytestmark = pytest.mark.slow

from mcp.client.client import Client  # noqa: E402 - only where the package is there
from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: E402

DEFAULT = ["compare_runs", "diagnose", "explain", "gather", "inspect", "verify_evidence"]
MOST_TOKENS = 3000
Talk = Callable[[Any], Awaitable[Any]]


def talk(words: Talk, *arguments: str, folder: Path = EXAMPLES) -> Any:
    """What a conversation with a server for `folder` comes to."""
    started = StdioServerParameters(command=sys.executable, args=["-m", "traindx", "mcp", *arguments], cwd=str(folder))

    async def conversation() -> Any:
        async with Client(stdio_client(started)) as client:
            return await words(client)

    return asyncio.run(conversation())


def called(tool: str, folder: Path = EXAMPLES, **given: object) -> Any:
    async def words(client: Any) -> Any:
        return await client.call_tool(tool, given)

    return talk(words, folder=folder)


def test_a_few_tools_by_default_all_read_only_and_small() -> None:
    async def words(client: Any) -> Any:
        return await client.list_tools()

    tools = talk(words).tools
    assert [tool.name for tool in tools] == DEFAULT
    listed = json.dumps([tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools])
    assert len(listed) / 4 <= MOST_TOKENS
    for tool in tools:
        assert tool.annotations.read_only_hint is True
        assert tool.output_schema["type"] == "object"
        assert all(row["description"] for row in tool.input_schema["properties"].values() if "items" not in row)


def test_diagnose_gives_the_structured_diagnosis_with_progress() -> None:
    told: list[str] = []

    async def hear(_done: float, _total: float | None, message: str | None) -> None:
        told.append(message or "")

    async def words(client: Any) -> Any:
        given = {"run": "schedule-change", "message": "the loss went up at epoch 7"}
        return await client.call_tool("diagnose", given, progress_callback=hear)

    result = talk(words)
    assert not result.is_error
    cause = result.structured_content["root_causes"][0]
    assert cause["id"] == "lr-schedule-spike"
    assert all(piece["verified"] for piece in cause["evidence"])
    assert "lr-schedule-spike" in result.content[0].text
    assert "analyze_loss_curve" in told


def test_a_healthy_run_is_healthy_with_reasons() -> None:
    result = called("diagnose", run="schedule-change-healthy").structured_content
    assert result["status"] == "healthy"
    assert result["reasons"]
    assert "root_causes" not in result


def test_the_full_diagnosis_is_the_contract() -> None:
    full = called("diagnose", run="schedule-change", detail="full").structured_content
    assert full["provenance"]["brain"] == "local"
    assert "Key Findings" in full["sections"]


def test_gather_says_what_there_is_and_what_is_missing() -> None:
    found = called("gather", run="schedule-change", message="the loss diverged").structured_content
    assert found["artifacts"]["config"] == ["config.yaml"]
    assert any("diverged" in row for row in found["symptoms"])
    assert any(row["source"] == "metrics.csv" for row in found["series"])
    assert isinstance(found["missing"], list)


def test_inspect_runs_one_analysis_or_lists_them() -> None:
    one = called("inspect", run="schedule-change", analysis="analyze_loss_curve").structured_content
    assert {row["id"] for row in one["signals"]} >= {"loss-diverged"}
    listed = called("inspect").structured_content["analyses"]
    assert listed["compare_metrics"]["does"]
    assert "series" in listed["analyze_loss_curve"]["options"]
    nothing = called("inspect", run="schedule-change", analysis="inspect_checkpoint")
    assert not nothing.is_error
    assert "checkpoint" in nothing.structured_content["no_data"]


def test_inspect_with_a_wrong_option_says_which_there_are() -> None:
    wrong = called("inspect", run="schedule-change", analysis="Read", options={"pathh": "x"})
    assert wrong.is_error
    assert "did you mean `path`?" in wrong.content[0].text


def test_compare_runs_finds_where_they_part() -> None:
    found = called("compare_runs", good="schedule-change-healthy", bad="schedule-change").structured_content
    assert found["first_parting"].endswith("epoch 7")
    assert any("lr" in row["name"] for row in found["differences"][:3])


@pytest.mark.parametrize(
    ("cited", "holds"),
    [
        ({"source": "metrics.csv", "line": 8, "quote": "7,0.4,27.6908"}, True),
        ({"source": "metrics.csv", "line": 8, "quote": "7,0.4,26.6908"}, False),
        ({"source": "metrics.csv", "line": 9, "quote": "7,0.4,27.6908"}, False),
        ({"source": "metrics.csv", "line": 99, "quote": "7"}, False),
        ({"source": "other.csv", "line": 8, "quote": "7"}, False),
        ({"source": "../schedule-change-healthy/metrics.csv", "line": 8, "quote": "7"}, False),
        ({"source": "metrics.csv", "locator": "epoch 7 of train_loss", "quote": "27.69"}, True),
        ({"source": "metrics.csv", "locator": "epoch 7 of train_loss", "quote": "31.2"}, False),
        ({"source": "config.yaml", "line": 17, "quote": "lr: 0.4", "claim": "the rate is 0.4"}, True),
        ({"source": "config.yaml", "line": 17, "quote": "lr: 0.4", "claim": "the rate is 0.9"}, False),
    ],
)
def test_verify_evidence_is_true_or_false(cited: dict[str, object], holds: bool) -> None:
    found = called("verify_evidence", run="schedule-change", citations=[cited]).structured_content
    assert found["all_hold"] is holds
    assert bool(found["verdicts"][0].get("why")) is not holds


def test_a_wrong_line_comes_with_what_stands_there() -> None:
    cited = [{"source": "config.yaml", "line": 17, "quote": "lr: 0.5"}]
    (verdict,) = called("verify_evidence", run="schedule-change", citations=cited).structured_content["verdicts"]
    assert "lr: 0.4" in verdict["there"]


def test_explain_knows_failure_modes_fixes_and_the_checklist() -> None:
    assert "## How it shows" in called("explain", id="exploding-gradients").structured_content["text"]
    assert "clip_grad_norm_" in called("explain", id="clip-gradients", run="schedule-change").structured_content["text"]
    assert called("explain", id="debugging-checklist").structured_content["text"]
    listed = called("explain").structured_content
    assert "overfitting" in listed["failure_modes"]
    wrong = called("explain", id="overfiting")
    assert wrong.is_error
    assert "`overfitting`" in wrong.content[0].text


def test_long_answers_are_cut_and_say_how_to_get_the_rest(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("".join(f"step {step} loss {1 / (step + 1):.6f}\n" for step in range(60_000)))
    given = {"path": "train.log", "max_lines": 2000}
    result = called("inspect", folder=tmp_path, analysis="Read", options=given)
    assert len(json.dumps(result.structured_content)) <= 33_000
    assert any("characters are shown" in row for row in result.structured_content["cut"])
    assert any("options" in row for row in result.structured_content["cut"])


def test_resources_are_the_catalog_the_last_diagnosis_and_its_pictures() -> None:
    async def words(client: Any) -> Any:
        before = [str(row.uri) for row in (await client.list_resources()).resources]
        await client.call_tool("diagnose", {"run": "schedule-change"})
        after = [str(row.uri) for row in (await client.list_resources()).resources]
        return before, after, [(await client.read_resource(uri)).contents[0] for uri in after]

    before, after, contents = talk(words)
    assert before == ["traindx://failure-modes"]
    assert after[1:] == [
        "traindx://diagnosis/last",
        "traindx://diagnosis/last/loss-curve.png",
        "traindx://diagnosis/last/loss-curve.svg",
    ]
    modes, diagnosis, png, svg = contents
    assert "`overfitting`" in modes.text
    assert json.loads(diagnosis.text)["root_causes"][0]["id"] == "lr-schedule-spike"
    assert base64.b64decode(png.blob).startswith(b"\x89PNG")
    assert svg.text.startswith("<svg")


def test_a_failure_mode_is_a_resource_and_an_unknown_one_a_sentence() -> None:
    from mcp.shared.exceptions import MCPError

    async def words(client: Any) -> Any:
        page = await client.read_resource("traindx://failure-modes/overfitting")
        with pytest.raises(MCPError, match="overfitting"):
            await client.read_resource("traindx://failure-modes/overfiting")
        with pytest.raises(MCPError, match="call `diagnose` first"):
            await client.read_resource("traindx://diagnosis/last")
        templates = await client.list_resource_templates()
        return page.contents[0], templates.resource_templates[0].uri_template

    page, template = talk(words)
    assert page.mime_type == "text/markdown"
    assert template == "traindx://failure-modes/{id}"


def test_a_prompt_for_each_specialist() -> None:
    async def words(client: Any) -> Any:
        names = [row.name for row in (await client.list_prompts()).prompts]
        return names, await client.get_prompt("state-debugger", {"run": "runs/42", "message": "memory grows"})

    names, prompt = talk(words)
    assert names == ["ml-debugger", "state-debugger", "training-monitor"]
    text = prompt.messages[0].content.text
    assert "runs/42" in text
    assert "memory grows" in text
    assert "detach" in text


def test_every_analysis_is_a_tool_of_its_own_on_request() -> None:
    async def words(client: Any) -> Any:
        tools = (await client.list_tools()).tools
        curve = await client.call_tool("analyze_loss_curve", {"run": "schedule-change"})
        wrong = await client.call_tool("analyze_loss_curve", {"run": "schedule-change", "serie": "x"})
        return tools, curve, wrong

    tools, curve, wrong = talk(words, "--all-tools")
    names = {tool.name for tool in tools}
    assert names >= {*DEFAULT, "analyze_loss_curve", "inspect_checkpoint", "Grep"}
    assert all(tool.annotations.read_only_hint for tool in tools)
    assert curve.structured_content["signals"]
    assert "did you mean `series`?" in wrong.content[0].text


def test_the_instructions_carry_the_words_users_say() -> None:
    async def words(client: Any) -> Any:
        return client.instructions

    said = talk(words)
    for word in ("diverged", "NaN", "out of memory", "overfitting", "hang", "hidden state", "healthy", "diagnose"):
        assert word in said


def test_nothing_heavy_is_imported_before_the_first_call() -> None:
    code = (
        "import sys; from traindx.mcp.server import TraindxServer; import asyncio;"
        "s = TraindxServer(); asyncio.run(s.offers());"
        "print(sorted({'torch', 'numpy', 'anthropic', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
