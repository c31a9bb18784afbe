"""Time, tokens, tool calls and dollars: asked before each call, kept to the cent."""

from pathlib import Path

import pytest

from tests.llm.kit import Investigate, Serve, answer, is_sceptic, quick
from traindx.brains.llm.budget import SHORTEST_ANSWER, Budget, ClaudeOptions
from traindx.brains.llm.providers.anthropic import model_id, price_of
from traindx.brains.llm.reply import ModelFault, Usage
from traindx.testing import Received, Turn, call, status, submit


def greedy(request: Received) -> Turn:
    """Calls tools as long as it is offered any, then answers."""
    if request.tools == ["submit_diagnosis"]:
        return submit(answer())
    return call("Read", path="train.log", start_line=len(request.messages), max_lines=1, tail=False)


def test_five_minutes_are_the_default() -> None:
    assert ClaudeOptions().max_seconds == 300


@pytest.mark.slow
def test_the_wall_clock_leads_to_a_last_turn(served: Serve, investigate: Investigate) -> None:
    server = served(lambda request: greedy(request).after(0.25), forever=True)
    diagnosis = investigate(server, max_seconds=1.5)
    assert diagnosis.status == "partial"
    assert diagnosis.root_causes[0].id == "lr-schedule-spike"
    assert "the investigation was cut short" in diagnosis.provenance.notes[0]


@pytest.mark.slow
def test_a_turn_that_takes_too_long_is_given_up_for_the_last_one(served: Serve, investigate: Investigate) -> None:
    def slow(request: Received) -> Turn:
        return greedy(request).after(0.0 if request.tools == ["submit_diagnosis"] else 30.0)

    diagnosis = investigate(served(slow, forever=True), max_seconds=1.2)
    assert diagnosis.status == "partial"
    assert "the model took too long" in diagnosis.provenance.notes[0]


@pytest.mark.parametrize("most", [0.06, 0.1, 0.25])
def test_the_dollars_are_never_exceeded(served: Serve, investigate: Investigate, most: float) -> None:
    server = served(greedy, forever=True)
    diagnosis = investigate(server, max_usd=most, max_tool_calls=1000)
    assert 0 < diagnosis.provenance.cost_usd <= most
    assert server.requests[-1].tools == ["submit_diagnosis"] or is_sceptic(server.requests[-1])
    assert diagnosis.root_causes[0].id == "lr-schedule-spike"


def test_too_few_dollars_for_a_single_answer_send_nothing(served: Serve, investigate: Investigate) -> None:
    server = served(greedy, forever=True)
    diagnosis = investigate(server, max_usd=0.001)
    assert server.requests == []
    assert diagnosis.provenance.brain == "local"
    assert "the budget is spent ($0.001)" in diagnosis.provenance.notes[0]


def test_the_tokens_are_never_exceeded(served: Serve, investigate: Investigate) -> None:
    server = served(greedy, forever=True)
    diagnosis = investigate(server, max_tokens=60_000, max_tool_calls=1000)
    assert diagnosis.status == "partial"
    assert "tokens are nearly used up" in diagnosis.provenance.notes[0]


def test_the_tool_calls_are_never_exceeded(served: Serve, investigate: Investigate) -> None:
    many = call("Glob", pattern="*.py", max_results=5)
    for line in range(1, 12):
        many += call("Read", path="train.log", start_line=line, max_lines=1, tail=False)
    server = served(many, submit(answer()))
    investigate(server, max_tool_calls=4)
    results = server.requests[1].messages[-1]["content"]
    done = [row for row in results if row["type"] == "tool_result"]
    assert sum("not run: all 4 tool calls are used" in row["content"] for row in done) == 8
    assert server.requests[1].tools == ["submit_diagnosis"]


def test_the_budget_is_asked_before_each_call() -> None:
    now = [0.0]
    budget = Budget(
        ClaudeOptions(max_seconds=100, max_usd=1.0), "claude-sonnet-5-5", price_of("claude-sonnet-5-5"), lambda: now[0]
    )
    assert budget.before_call(10_000).last == ""
    now[0] = 80.0
    assert budget.before_call(10_000).last == "time is nearly up"
    now[0] = 100.0
    with pytest.raises(ModelFault, match="out of time"):
        budget.before_call(10_000)


def test_what_an_answer_may_cost_is_bounded_by_what_is_left() -> None:
    budget = Budget(ClaudeOptions(max_usd=0.1), "claude-sonnet-5-5", price_of("claude-sonnet-5-5"))
    budget.charge(Usage(input=10_000, output=5_000))
    assert budget.cost_usd == pytest.approx(0.07)
    allowance = budget.before_call(2_000)
    assert allowance.last == "the dollar budget is nearly used up"
    assert SHORTEST_ANSWER <= allowance.output_tokens <= (0.03 - 0.005) / 10e-6


def test_prices_and_names() -> None:
    assert model_id(None, "sonnet") == "claude-sonnet-5-5"
    assert model_id("opus", "sonnet") == "claude-opus-5-5"
    assert model_id(None, "inherit") == "claude-sonnet-5-5"
    assert model_id("llama3.3", "sonnet") == "llama3.3"
    assert price_of("us.anthropic.claude-opus-5-5") == price_of("claude-opus-5-5")
    assert price_of("llama3.3") is None
    sonnet = price_of("claude-sonnet-5-5")
    assert sonnet is not None
    assert sonnet.of(Usage(input=1_000_000, output=1_000_000)) == pytest.approx(12.0)


def test_several_specialists_share_the_dollars(served: Serve, investigate: Investigate) -> None:
    server = served(status(500), forever=True)
    investigate(server, specialist=None, max_usd=0.02)
    # Half of two cents does not pay for one request of this size.
    assert server.requests == []


@pytest.mark.slow
def test_a_specialist_may_limit_its_own_turns(served: Serve, tmp_path: Path, broken_run: Path) -> None:
    from traindx import diagnose

    (tmp_path / ".traindx" / "agents").mkdir(parents=True)
    (tmp_path / ".traindx" / "agents" / "brief.md").write_text(
        "---\nname: brief\ndescription: Use when there is hardly any time to look at anything.\n"
        "tools: Read\nmaxTurns: 3\n---\nYou are brief.\n\n## Report headings\n1. **All**: everything\n"
    )
    for name in ("config.yaml", "metrics.csv", "train.log"):
        (tmp_path / name).write_text((broken_run / name).read_text())
    server = served(greedy, forever=True)
    diagnosis = diagnose(tmp_path, "why", brain="claude", specialist="brief", options=quick(server))
    asked = [request for request in server.requests if not is_sceptic(request)]
    assert len(asked) == 3
    assert "all 3 turns are used" in diagnosis.provenance.notes[0]
