"""Two hundred models that misbehave at random: a valid diagnosis comes out every time."""

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.llm.kit import answer, cause, diagnosed, is_sceptic, piece, quick
from traindx.contract import Diagnosis
from traindx.runtime import Toolbelt
from traindx.testing import (
    ScriptedMessagesServer,
    Turn,
    call,
    cut,
    garbage,
    raw_call,
    refuse,
    reset,
    say,
    status,
    stopped,
    submit,
    think,
)

pytestmark = pytest.mark.slow

NAMES = (
    "Read",
    "Grep",
    "Glob",
    "analyze_loss_curve",
    "find_changes",
    "show_result",
    "explain_failure_mode",
    "Bash",
    "",
    "submit",
)
GARBAGE = ["", "data: {", "event: x\ndata: 1\n\n", "event: message_start\ndata: {}\n\n", "null"]
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**6) | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
REASONS = st.sampled_from(
    ["max_tokens", "pause_turn", "stop_sequence", "model_context_window_exceeded", "end_turn", "tool_use", "new_reason"]
)
BROKEN_ANSWERS = st.fixed_dictionaries(
    {},
    optional={
        "status": JSON | st.sampled_from(["healthy", "diagnosis_complete", "needs_more_data"]),
        "causes": JSON | st.lists(st.builds(lambda changes: {**cause(), **changes}, st.fixed_dictionaries(
            {}, optional={
                "id": JSON | st.sampled_from(["overfitting", "lr-schedule-spike"]), "issue": JSON, "severity": JSON,
                "confidence": JSON | st.floats(0, 1), "fix": JSON,
                "evidence": JSON | st.lists(st.just(piece()), max_size=2),
            },
        )), max_size=3),
        "leads": JSON, "excluded": JSON, "questions": JSON, "sections": JSON,
    },
)  # fmt: skip
STEPS: st.SearchStrategy[Turn] = st.one_of(
    st.builds(say, st.text(max_size=60)),
    st.builds(think, st.text(max_size=60)),
    st.builds(
        call,
        st.sampled_from(NAMES),
        st.dictionaries(st.sampled_from(["path", "pattern", "number", "id", "x"]), JSON, max_size=3),
    ),
    st.builds(raw_call, st.sampled_from(NAMES), st.text(max_size=30)),
    st.builds(submit, BROKEN_ANSWERS),
    st.just(submit(answer())),
    st.builds(stopped, REASONS, st.builds(say, st.text(max_size=10))),
    st.builds(stopped, REASONS, st.builds(raw_call, st.sampled_from(NAMES), st.text(max_size=10))),
    st.builds(status, st.sampled_from([400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 529])),
    st.builds(lambda code: status(code, retry_after=3600), st.sampled_from([429, 503, 529])),
    st.builds(cut, st.just(submit(answer())), st.integers(0, 60)),
    st.builds(
        garbage, st.sampled_from(["", "data: {", "event: x\ndata: 1\n\n", "event: message_start\ndata: {}\n\n", "null"])
    ),
    st.just(refuse()),
    st.just(reset()),
    st.builds(lambda a, b: a + b, st.builds(say, st.text(max_size=5)), st.builds(call, st.sampled_from(NAMES))),
)


def survives(toolbelt: Toolbelt, turns: list[Turn], doubts: list[Turn]) -> None:
    with ScriptedMessagesServer(*turns, forever=True) as server:
        server.script(*doubts, when=is_sceptic, forever=True)
        options = quick(server, max_tool_calls=6, max_seconds=20.0, silence=2.0, backoff=0.0, sceptic_calls=2)
        diagnosis = diagnosed(toolbelt, options)
    assert Diagnosis.model_validate_json(diagnosis.model_dump_json()) == diagnosis
    assert diagnosis.status in {"diagnosis_complete", "partial"}
    assert diagnosis.summary
    assert diagnosis.root_causes
    assert list(diagnosis.sections) == [
        "Training Status Summary", "Key Findings", "Recommended Actions", "Expected Outcomes", "Monitoring Plan",
    ]  # fmt: skip
    for row in diagnosis.root_causes:
        held = [evidence for evidence in row.evidence if evidence.verified and evidence.kind != "contrary"]
        assert row.confidence <= 0.98
        assert row.confidence <= 0.5 or held
        assert row.confidence < 0.9 or any(evidence.kind == "direct" for evidence in held)
    assert "internal error: " not in " ".join(diagnosis.provenance.notes)
    if diagnosis.provenance.brain == "local":
        assert "this is the local answer" in " ".join(diagnosis.provenance.notes)


PER_RUN = 25


@pytest.mark.parametrize("group", range(8))
def test_whatever_the_model_does_a_valid_diagnosis_comes_out(open_toolbelt: Toolbelt, group: int) -> None:
    """Eight groups of twenty-five, each with its own beginning, so that none repeats another's."""

    @settings(
        max_examples=PER_RUN,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(
        st.lists(STEPS, min_size=1 + group % 3, max_size=4 + group),
        st.lists(STEPS, min_size=1, max_size=2),
        st.just(group),
    )
    def misbehave(turns: list[Turn], doubts: list[Turn], _: int) -> None:
        survives(open_toolbelt, turns, doubts)

    misbehave()


def test_there_are_two_hundred() -> None:
    assert 8 * PER_RUN >= 200
