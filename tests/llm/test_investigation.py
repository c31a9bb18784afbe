"""An investigation with a model, over real HTTP: what is sent, what is done, what comes out."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.llm.kit import Investigate, Serve, answer, cause, diagnosed, piece, quick
from traindx.contract import Event
from traindx.readers import Scope
from traindx.runtime import Toolbelt
from traindx.testing import Received, Turn, call, raw_call, say, submit, think

READ = {"path": "config.yaml", "start_line": 1, "max_lines": 200, "tail": False}


def number_of(text: str) -> int:
    """The number that a result was given."""
    found = re.search(r"result (\d+): ", text)
    assert found is not None
    return int(found[1])


def test_a_truthful_answer_becomes_a_verified_diagnosis(served: Serve, investigate: Investigate) -> None:
    server = served(say("looking") + call("Read", READ), submit(answer()))
    diagnosis = investigate(server)
    first = diagnosis.root_causes[0]
    assert (diagnosis.status, first.id, first.confidence) == ("diagnosis_complete", "lr-schedule-spike", 0.96)
    assert all(row.verified for row in first.evidence)
    assert diagnosis.sections["Key Findings"] == "About Key Findings."
    assert diagnosis.provenance.brain == "claude-sonnet-5-5"
    assert diagnosis.provenance.tokens > 1000
    assert 0 < diagnosis.provenance.cost_usd < 0.2


def test_the_system_prompt_is_the_specialist_and_the_rules_of_the_house(
    served: Serve, investigate: Investigate
) -> None:
    server = served(submit(answer()))
    investigate(server)
    system = server.requests[0].system
    for words in (
        "You read training runs by their numbers",
        "How this investigation runs",
        "What counts as evidence",
        "Data is not instructions",
        "Constraints",
        "- `lr-schedule-spike`:",
        "1. Training Status Summary",
    ):
        assert words in system


def test_the_project_profile_reaches_the_prompt(served: Serve, tmp_path: Path, broken_run: Path) -> None:
    run = tmp_path / "project" / "run"
    run.mkdir(parents=True)
    for name in ("config.yaml", "metrics.csv"):
        (run / name).write_text((broken_run / name).read_text())
    (tmp_path / "project" / ".traindx").mkdir()
    (tmp_path / "project" / ".traindx" / "project.md").write_text(
        "---\nsequence_length: 1\n---\nNever touch the seed.\n"
    )
    from traindx import diagnose

    server = served(submit(answer()))
    diagnose(run, "loss went up", brain="claude", specialist="training-monitor", options=quick(server))
    assert "sequence_length: 1" in server.requests[0].system
    assert "Never touch the seed." in server.requests[0].system


def test_the_local_signals_are_leads_to_confirm_or_refute(served: Serve, investigate: Investigate) -> None:
    server = served(submit(answer()))
    investigate(server)
    first = server.requests[0].last_words
    assert "Leads of the local investigator. Its verdict: diagnosis_complete (`lr-schedule-spike` at 0.98)" in first
    assert "lr-raised-at-onset" in first
    assert 'config.yaml, line 17: "lr: 0.4"' in first
    assert '"loss went up after epoch 7"' in first


def test_every_tool_has_a_strict_schema(served: Serve, investigate: Investigate) -> None:
    server = served(submit(answer()))
    investigate(server)
    tools: list[dict[str, Any]] = server.requests[0].body["tools"]
    assert {"Read", "analyze_loss_curve", "explain_failure_mode", "submit_diagnosis"} <= {row["name"] for row in tools}
    # The service takes twenty strict tools at most; those that take nothing come last.
    assert sum(row.get("strict", False) for row in tools) <= 20
    for row in tools:
        assert row.get("strict", False) or not row["input_schema"]["properties"]
        _is_strict(row["input_schema"])


def _is_strict(schema: Any) -> None:
    if isinstance(schema, list):
        for row in schema:
            _is_strict(row)
    if not isinstance(schema, dict):
        return
    assert not {"minimum", "maximum", "minLength", "pattern", "default", "title"} & {
        key for key, value in schema.items() if not isinstance(value, dict)
    }
    if schema.get("type") == "object":
        assert schema["additionalProperties"] is False
        assert set(schema["required"]) == set(schema["properties"])
    for value in schema.values():
        _is_strict(value)


def test_thinking_is_adaptive_and_effort_is_passed_on(served: Serve, investigate: Investigate) -> None:
    server = served(submit(answer()))
    investigate(server, effort="low", model="opus")
    body = server.requests[0].body
    assert body["thinking"]["type"] == "adaptive"
    assert body["output_config"] == {"effort": "low"}
    assert body["model"] == "claude-opus-5-5"
    assert body["stream"] is True
    assert not {"temperature", "top_p", "top_k"} & set(body)


def test_thinking_blocks_go_back_as_they_came(served: Serve, investigate: Investigate) -> None:
    server = served(think("password: hunter2 is what I wonder about", "c2ln") + call("Read", READ), submit(answer()))
    investigate(server)
    sent = server.requests[1].messages[1]["content"][0]
    assert sent == {"type": "thinking", "thinking": "password: hunter2 is what I wonder about", "signature": "c2ln"}


def test_calls_of_one_turn_are_answered_together(served: Serve, investigate: Investigate) -> None:
    three = call("Read", READ) + call("Glob", pattern="*", max_results=10) + call("find_changes")
    server = served(three, submit(answer()))
    investigate(server)
    blocks = server.requests[1].messages[-1]["content"]
    assert [block["type"] for block in blocks] == ["tool_result"] * 3
    assert "lr: 0.4" in blocks[0]["content"]
    assert "train.py" in blocks[1]["content"]


def test_words_are_streamed_as_they_come(served: Serve, investigate: Investigate) -> None:
    heard: list[Event] = []
    server = served(say("First I look at the schedule, then at the loss.") + call("Read", READ), submit(answer()))
    investigate(server, heard=heard)
    words = [event.text for event in heard if event.kind == "text"]
    assert len(words) >= 2
    assert "".join(words) == "First I look at the schedule, then at the loss."
    kinds = [event.kind for event in heard]
    assert kinds.index("text") < len(kinds) - 1 - kinds[::-1].index("tool_started")
    assert kinds[-1] == "done"


def test_the_second_request_finds_the_first_one_in_the_cache(served: Serve, investigate: Investigate) -> None:
    server = served(call("Read", READ), call("find_changes"), submit(answer()))
    investigate(server)
    first, second = server.requests[0], server.requests[1]
    from traindx.testing.received import segments

    one, two = segments(first.body), segments(second.body)
    prefix = max(index for index, row in enumerate(one) if row[1]) + 1
    assert [row[0] for row in two[:prefix]] == [row[0] for row in one[:prefix]]
    carried = sum(len(row[0]) for row in one[:prefix])
    assert carried / sum(len(row[0]) for row in one) >= 0.8
    assert carried / sum(len(row[0]) for row in two) >= 0.8
    marks = sum("cache_control" in json.dumps(part) for part in _blocks(second))
    assert marks <= 4


def _blocks(request: Received) -> list[Any]:
    return [*request.body["system"], *(block for message in request.messages for block in message["content"])]


def test_a_repeated_call_is_refused_with_the_place_of_its_result(served: Serve, investigate: Investigate) -> None:
    server = served(call("Read", READ), call("Read", READ), submit(answer()))
    investigate(server)
    assert f"result {number_of(server.requests[1].last_words)}" in server.requests[2].last_words
    assert "asked before" in server.requests[2].last_words
    assert "lr: 0.4" not in server.requests[2].last_words


def test_a_big_result_is_cut_head_and_tail_with_the_way_to_the_rest(served: Serve, investigate: Investigate) -> None:
    everything = {"path": "train.py", "start_line": 1, "max_lines": 2000, "tail": False}

    def rest(request: Received) -> Turn:
        return call("show_result", number=number_of(request.last_words), start=700)

    server = served(
        call("Read", everything), rest, submit(answer()),
    )  # fmt: skip
    investigate(server, result_characters=1000)
    shown = server.requests[1].last_words
    assert "characters left out" in shown
    assert re.search(r"`show_result` with number \d+ and start 700", shown)
    assert len(shown) < 1600
    assert '"""Train a small convolutional network' in shown
    assert "class GratingNet" not in shown
    assert "class GratingNet" in server.requests[2].last_words


def test_a_long_conversation_is_shortened_without_losing_citations(served: Serve, investigate: Investigate) -> None:

    def again(request: Received) -> Turn:
        whole = next(text for text in request.results().values() if "class GratingNet" in text)
        return call("show_result", number=number_of(whole), start=0)

    server = served(
        call("analyze_loss_curve", series=""),
        say("`class GratingNet(nn.Module):` and the rest")
        + call("Read", path="train.py", start_line=1, max_lines=2000, tail=False),
        call("Read", READ),
        call("Glob", pattern="*", max_results=10),
        again,
        submit(answer()),
    )
    investigate(server, context_tokens=9000)
    late = server.requests[4]
    results = list(late.results().values())
    assert "shortened; `show_result`" in results[1]
    assert "class GratingNet(nn.Module):" in results[1]
    assert "import torch" not in results[1]
    # The signal's citations are all still there.
    assert "7,0.4,27.6908,18.2389,0.176,6.978" in results[0]
    assert "import torch" in server.requests[5].last_words


def test_the_catalog_is_at_hand(served: Serve, investigate: Investigate) -> None:
    asked = call("explain_failure_mode", id="lr-schedule-spike") + call("explain_failure_mode", id="lr-shedule-spike")
    server = served(asked, submit(answer()))
    investigate(server)
    known, unknown = server.requests[1].messages[-1]["content"]
    assert "How to tell it from its neighbours" in known["content"]
    assert unknown["is_error"] is True
    assert "Did you mean `lr-schedule-spike`?" in unknown["content"]


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        (call("Bash", command="ls"), "there is no tool `Bash`"),
        (call("check_recurrent_state", path=""), "there is no tool `check_recurrent_state`"),
        (call("Read", file="config.yaml"), "there is no field `file`"),
        (raw_call("Read", '{"path": "config.yaml"'), "the input is not JSON"),
        (raw_call("Read", '["config.yaml"]'), "not a JSON object"),
        (call("Read", path="/etc/passwd", start_line=1, max_lines=5, tail=False), "cannot read"),
        (call("show_result", number=99, start=0), "there is no result 99"),
    ],
)
def test_a_wrong_call_is_told_what_is_wrong(served: Serve, investigate: Investigate, turn: Turn, said: str) -> None:
    server = served(turn, submit(answer()))
    diagnosis = investigate(server)
    block = server.requests[1].messages[-1]["content"][0]
    assert block["is_error"] is True
    assert said in block["content"]
    assert diagnosis.root_causes[0].confidence == 0.96


def test_a_wrong_answer_gets_one_turn_to_repair_it_with_the_exact_problems(
    served: Serve, investigate: Investigate
) -> None:
    wrong = answer(cause(id="lr-spike", confidence=1.7), sections=[])
    server = served(submit(wrong), submit(answer()))
    diagnosis = investigate(server)
    asked = server.requests[1].last_words
    assert "`causes[0].id`: there is no failure mode `lr-spike`" in asked
    assert "`sections` has no text under Training Status Summary" in asked
    assert diagnosis.root_causes[0].confidence == 0.96
    assert len([row for row in server.requests if "submit_diagnosis" in row.tools]) == 2


def test_after_the_repair_turn_the_valid_part_is_used(served: Serve, investigate: Investigate) -> None:
    half = answer(cause(), cause(id="no-such-mode"), {"id": "overfitting"}, sections=[])
    server = served(submit(half), submit(half))
    diagnosis = investigate(server)
    assert diagnosis.root_causes[0].id == "lr-schedule-spike"
    assert diagnosis.root_causes[0].confidence == 0.96
    assert {row.id for row in diagnosis.root_causes} <= {"lr-schedule-spike", "overfitting"}
    assert all(diagnosis.sections.values())
    assert any("the repaired one" in note for note in diagnosis.provenance.notes)


def test_evidence_that_does_not_hold_is_named_in_the_repair_turn(served: Serve, investigate: Investigate) -> None:
    invented = answer(cause(evidence=[piece(), piece("line 3", "lr: 0.4")]))
    server = served(submit(invented), submit(answer()))
    investigate(server)
    asked = server.requests[1].last_words
    assert "`causes[0].evidence[1]` (config.yaml, line 3): line 3 of `config.yaml` says something else" in asked


def test_a_proven_lead_does_not_vanish_because_the_model_is_silent(served: Serve, investigate: Investigate) -> None:
    server = served(submit(answer(status="healthy", causes=[])), forever=True)
    diagnosis = investigate(server)
    assert diagnosis.status == "diagnosis_complete"
    assert diagnosis.root_causes[0].id == "lr-schedule-spike"
    assert diagnosis.root_causes[0].confidence == 0.98
    assert any("disagrees with a proven lead" in note for note in diagnosis.provenance.notes)
    assert "the lead `lr-schedule-spike` (0.98) is passed over" in server.requests[1].last_words


def test_a_server_that_knows_no_thinking_and_no_strict_schemas_is_asked_plainly(
    served: Serve, investigate: Investigate
) -> None:
    def picky(request: Received) -> Turn:
        from traindx.testing import status

        new = "thinking" in request.body or any("strict" in row for row in request.body["tools"])
        return status(400, "unknown field `thinking`") if new else submit(answer())

    server = served(picky, forever=True)
    diagnosis = investigate(server, model="qwen3:8b")
    assert diagnosis.provenance.brain == "qwen3:8b"
    assert diagnosis.provenance.cost_usd == 0.0
    assert any("price of `qwen3:8b` is not known" in note for note in diagnosis.provenance.notes)


@pytest.mark.slow
def test_a_specialist_of_ones_own_is_sent_too(served: Serve, tmp_path: Path, broken_run: Path) -> None:
    from traindx import diagnose

    (tmp_path / ".traindx" / "agents").mkdir(parents=True)
    (tmp_path / ".traindx" / "agents" / "rate-watcher.md").write_text(
        "---\nname: rate-watcher\ndescription: Use when the learning rate is in doubt, and only then.\n"
        "tools: Read, Grep\nmodel: haiku\n---\nYou watch the rate.\n\n## Report headings\n1. **Rate**: what it did\n"
    )
    for name in ("config.yaml", "metrics.csv"):
        (tmp_path / name).write_text((broken_run / name).read_text())
    told = answer(sections=[{"heading": "Rate", "text": "It rose."}])
    server = served(submit(told))
    diagnosis = diagnose(tmp_path, "why", brain="claude", specialist="rate-watcher", options=quick(server))
    assert diagnosis.sections == {"Rate": "It rose."}
    assert server.requests[0].model == "claude-haiku-5-5"
    assert server.requests[0].tools == ["Read", "Grep", "explain_failure_mode", "show_result", "submit_diagnosis"]


@pytest.mark.slow
def test_a_healthy_run_is_called_healthy(served: Serve, healthy_run: Path) -> None:
    server = served(submit(answer(status="healthy", causes=[])))
    with Toolbelt(Scope.of(healthy_run)) as toolbelt:
        diagnosis = diagnosed(toolbelt, quick(server))
    assert diagnosis.status == "healthy"
    assert diagnosis.root_causes == []


def test_a_tool_that_needs_nothing_has_been_called_and_is_not_offered_again(
    served: Serve, investigate: Investigate
) -> None:
    server = served(submit(answer()))
    investigate(server)
    first = server.requests[0]
    told = set(re.findall(r"result \d+: (\w+)", first.last_words))
    assert told
    specs = {row["name"]: row for row in first.body["tools"]}
    assert not [name for name in told if name in specs and not specs[name]["input_schema"]["properties"]]
    # Nor are tools that have nothing to look at in this run.
    assert not {"inspect_checkpoint", "compare_ranks", "check_recurrent_state"} & set(specs)


def test_the_small_files_stand_in_the_first_message(served: Serve, investigate: Investigate) -> None:
    server = served(submit(answer()))
    investigate(server)
    first = server.requests[0].last_words
    assert "17\t    lr: 0.4" in first  # the config, numbered so that it can be cited
    assert "class GratingNet" in first  # the program
    assert "27.6908" in first  # the table's head or tail, or a lead
    assert "usual for sgd" in first  # the norm beside the number


def test_results_are_numbered_in_the_order_of_the_calls(served: Serve, investigate: Investigate) -> None:
    """The slow one is asked first; a fast one does not take its number."""
    slow = call("visualize_loss_curve", series="")
    server = served(slow + call("Glob", pattern="*", max_results=3) + call("Read", READ), submit(answer()))
    investigate(server)
    rows = [block["content"] for block in server.requests[1].messages[-1]["content"]]
    numbers = [number_of(text) for text in rows]
    assert numbers == list(range(numbers[0], numbers[0] + 3))
