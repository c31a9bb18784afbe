"""Several specialists at once: their own contexts and budgets, one answer, disagreements in sight; and the sceptic."""

from threading import Barrier
from typing import Any

import pytest

from tests.llm.kit import Investigate, Serve, answer, cause, is_sceptic, piece
from traindx.testing import Received, ScriptedMessagesServer, Turn, call, sent_by, status, submit

MONITOR = sent_by("You read training runs by their numbers")
DEBUGGER = sent_by("You find out what broke a training run")


def only(predicate: Any) -> Any:
    return lambda request: predicate(request) and not is_sceptic(request)


def both(server: ScriptedMessagesServer, monitor: list[Any], debugger: list[Any]) -> ScriptedMessagesServer:
    return server.script(*monitor, when=only(MONITOR)).script(*debugger, when=only(DEBUGGER))


def test_each_has_its_own_prompt_tools_and_conversation(served: Serve, investigate: Investigate) -> None:
    server = both(
        served(),
        [call("Glob", pattern="*", max_results=10), submit(answer())],
        [call("Grep", pattern="lr"), submit(answer(specialist="ml-debugger"))],
    )
    diagnosis = investigate(server, specialist=None, specialists="all")
    assert diagnosis.request.specialists[:2] == ["training-monitor", "ml-debugger"]
    systems = {request.system for request in server.requests if not is_sceptic(request)}
    assert len(systems) == 2
    for request in server.requests:
        if len(request.messages) > 1 and not is_sceptic(request):
            used = [block["name"] for block in request.messages[1]["content"] if block["type"] == "tool_use"]
            assert used == (["Glob"] if MONITOR(request) else ["Grep"])
    assert diagnosis.root_causes[0].confidence == 0.96


def test_they_work_at_the_same_time(served: Serve, investigate: Investigate) -> None:
    """Neither gets its first answer before both have asked: one after the other would break the barrier."""
    meeting = Barrier(2, timeout=60)

    def together(_: Received) -> Turn:
        meeting.wait()
        return call("Glob", pattern="*", max_results=10)

    server = both(served(), [together, submit(answer())], [together, submit(answer(specialist="ml-debugger"))])
    investigate(server, specialist=None, specialists="all")
    first = [request for request in server.requests if len(request.messages) == 1 and not is_sceptic(request)]
    assert len(first) == 2
    assert not meeting.broken


def test_equal_causes_are_joined_with_everybodys_evidence(served: Serve, investigate: Investigate) -> None:
    other = piece("line 10", "lr 0.4", "train.log", claim="the log shows the same rate")
    server = both(
        served(),
        [submit(answer(cause(evidence=[piece()])))],
        [submit(answer(cause(evidence=[other], confidence=0.8), specialist="ml-debugger"))],
    )
    diagnosis = investigate(server, specialist=None, specialists="all")
    named = [row for row in diagnosis.root_causes if row.id == "lr-schedule-spike"]
    assert len(named) == 1
    assert {row.source for row in named[0].evidence} == {"config.yaml", "train.log"}


def test_a_disagreement_stays_in_sight(served: Serve, investigate: Investigate) -> None:
    refuted = {
        "id": "lr-schedule-spike", "verdict": "refuted", "why": "the noise setting explains it",
        "refutes": "config.yaml, line 17", "source": "config.yaml", "locator": "line 11", "quote": "noise: 0.6",
    }  # fmt: skip
    other = cause(id="data-distribution-shift", confidence=0.75, evidence=[piece("line 11", "noise: 0.6")])
    server = both(served(), [submit(answer())], [submit(answer(other, leads=[refuted], specialist="ml-debugger"))])
    diagnosis = investigate(server, specialist=None, specialists="all")
    assert [row.id for row in diagnosis.root_causes] == ["lr-schedule-spike", "data-distribution-shift"]
    assert any(
        "ml-debugger disagrees with a proven lead" in row and "the noise setting explains it" in row
        for row in diagnosis.provenance.notes
    )


def test_one_specialist_is_enough_where_it_is_sure(served: Serve, investigate: Investigate) -> None:
    server = served(submit(answer()))
    diagnosis = investigate(server, specialist=None)
    assert diagnosis.root_causes[0].id == "lr-schedule-spike"
    assert len([request for request in server.requests if not is_sceptic(request)]) == 1


def test_a_second_one_is_sent_where_the_first_is_not_sure(served: Serve, investigate: Investigate) -> None:
    server = both(
        served(), [submit(answer(cause(confidence=0.6)))], [submit(answer(cause(), specialist="ml-debugger"))]
    )
    diagnosis = investigate(server, specialist=None)
    assert len([request for request in server.requests if DEBUGGER(request) and not is_sceptic(request)]) == 1
    assert diagnosis.root_causes[0].confidence == 0.96
    assert any(
        "ml-debugger was sent as well: training-monitor is not sure" in row for row in diagnosis.provenance.notes
    )


def test_a_second_one_is_sent_where_the_first_disagrees_with_a_proof(served: Serve, investigate: Investigate) -> None:
    server = both(
        served(),
        [submit(answer(status="healthy", causes=[]))] * 2,
        [submit(answer(cause(), specialist="ml-debugger"))],
    )
    diagnosis = investigate(server, specialist=None)
    assert diagnosis.root_causes[0].id == "lr-schedule-spike"
    sent = next(row for row in diagnosis.provenance.notes if "was sent as well" in row)
    assert sent == "ml-debugger was sent as well: training-monitor disagrees with the proven `lr-schedule-spike`"


def test_what_is_verified_comes_before_what_is_not(served: Serve, investigate: Investigate) -> None:
    empty = cause(id="overfitting", confidence=0.99, evidence=[])
    shown = cause(confidence=0.45)
    stubborn = submit(answer(empty, shown, status="needs_more_data"))
    diagnosis = investigate(served(stubborn, stubborn))
    ids = [row.id for row in diagnosis.root_causes]
    assert ids.index("lr-schedule-spike") < ids.index("overfitting")


def test_one_specialists_fault_does_not_silence_the_other(served: Serve, investigate: Investigate) -> None:
    server = served()
    server.script(status(500), when=only(DEBUGGER), forever=True).script(submit(answer()), when=only(MONITOR))
    diagnosis = investigate(server, specialist=None, specialists="all")
    assert diagnosis.provenance.brain == "claude-sonnet-5-5"
    assert diagnosis.root_causes[0].confidence >= 0.9
    assert any("internal error (500)" in note for note in diagnosis.provenance.notes)


def test_made_up_evidence_of_one_does_not_hang_on_the_others_cause(served: Serve, investigate: Investigate) -> None:
    invented = submit(answer(cause(evidence=[piece("line 99", "lr: 4.0")]), specialist="ml-debugger"))
    server = both(served(), [submit(answer())], [invented, invented])
    diagnosis = investigate(server, specialist=None, specialists="all")
    first = diagnosis.root_causes[0]
    # What the tools proved stands by itself; nothing that was made up hangs on it.
    assert first.confidence == 0.98
    assert all(row.verified for row in first.evidence)


def test_the_sceptic_gets_tools_and_the_claim_before_nine_tenths_is_reported(
    served: Serve, investigate: Investigate
) -> None:
    server = served(submit(answer()))
    server.script(
        call("Read", path="config.yaml", start_line=12, max_lines=6, tail=False),
        call("submit_verdict", outcome="holds", why="the rate was 0.015 until epoch 6", evidence=[]),
        when=is_sceptic,
    )
    diagnosis = investigate(server)
    doubting = [request for request in server.requests if is_sceptic(request)]
    assert len(doubting) == 2
    assert "You are the sceptic" in doubting[0].system
    asked = doubting[0].last_words
    assert "The cause to be refuted is `lr-schedule-spike` (" in asked
    assert "at 0.96" in asked
    # The user's words, what the id is easily taken for, and each place opened, with the lines around it.
    assert "loss went up after epoch 7" in asked
    assert "`learning-rate-too-high`: " in asked
    assert "[direct, opened: it stands there] config.yaml, line 17" in asked
    assert "from_epoch: 7" in asked
    assert "from_epoch: 7" in doubting[1].last_words
    assert diagnosis.root_causes[0].confidence == 0.96
    assert any("a sceptic tried to refute" in note for note in diagnosis.provenance.notes)


def sceptical(served: Serve, investigate: Investigate, outcome: str, *evidence: dict[str, str], **more: str) -> Any:
    """The diagnosis after a sceptic who says this."""
    server = served(submit(answer(cause(confidence=0.95))))
    said: dict[str, Any] = {
        "outcome": outcome,
        "why": "I do not believe it",
        "better_id": "",
        "evidence": list(evidence),
        **more,
    }
    server.script(call("submit_verdict", **said), when=is_sceptic)
    return investigate(server)


RATE = "config.yaml, line 17"
EPOCH = "metrics.csv, epoch 7"


@pytest.mark.parametrize(
    ("what", "against"),
    [
        ("an irrelevant line", piece("line 1", "import argparse", "train.py", refutes=RATE)),
        ("a quote that is not there", piece("line 99", "lr: 0.0001", refutes=RATE)),
        ("a place, and no word of what it refutes", piece("line 15", "lr: 0.015", refutes="")),
        ("nothing", None),
    ],
    ids=lambda row: row if isinstance(row, str) else "",
)
def test_what_contradicts_nothing_is_a_doubt(
    served: Serve, investigate: Investigate, what: str, against: dict[str, str] | None
) -> None:
    diagnosis = sceptical(served, investigate, "wrong_cause", *([against] if against else []))
    first = diagnosis.root_causes[0]
    # What the tools prove as well is not less sure for an opinion; the opinion is told.
    assert (first.id, first.confidence) == ("lr-schedule-spike", 0.95)
    assert any("a sceptic doubts `lr-schedule-spike`" in note for note in diagnosis.provenance.notes)


def test_what_bears_on_it_and_does_not_contradict_costs_the_certainty(served: Serve, investigate: Investigate) -> None:
    beside = piece("line 15", "lr: 0.015", refutes=RATE)
    first = sceptical(served, investigate, "wrong_cause", beside).root_causes[0]
    assert (first.id, first.confidence) == ("lr-schedule-spike", 0.89)


def test_contrary_evidence_that_bears_on_the_cause_is_shown(served: Serve, investigate: Investigate) -> None:
    diagnosis = sceptical(served, investigate, "doubtful", piece("line 15", "lr: 0.015", refutes=RATE))
    shown = [row for row in diagnosis.root_causes[0].evidence if row.kind == "contrary"]
    assert [(row.locator, row.verified) for row in shown] == [("line 15", True)]


def test_the_right_cause_under_a_wrong_id_gets_the_right_one(served: Serve, investigate: Investigate) -> None:
    odd = cause(id="catastrophic-forgetting", confidence=0.95, evidence=[piece("line 11", "noise: 0.6")])
    server = served(submit(answer(cause(confidence=0.8), odd)))
    server.script(
        call(
            "submit_verdict",
            outcome="wrong_id",
            why="nothing was forgotten",
            better_id="data-distribution-shift",
            evidence=[],
        ),
        when=is_sceptic,
    )
    diagnosis = investigate(server)
    named = {row.id: row.confidence for row in diagnosis.root_causes}
    assert "catastrophic-forgetting" not in named
    assert named["data-distribution-shift"] == 0.89


def test_what_a_tool_proves_keeps_its_name(served: Serve, investigate: Investigate) -> None:
    diagnosis = sceptical(served, investigate, "wrong_id", better_id="exploding-gradients")
    assert diagnosis.root_causes[0].id == "lr-schedule-spike"
    assert diagnosis.root_causes[0].confidence == 0.89


def test_a_cause_that_two_hold_is_put_to_one_sceptic(served: Serve, investigate: Investigate) -> None:
    server = both(served(), [submit(answer())], [submit(answer(specialist="ml-debugger"))])
    investigate(server, specialist=None, specialists="all")
    assert sum(map(is_sceptic, server.requests)) == 1


def test_below_nine_tenths_nobody_doubts(served: Serve, investigate: Investigate) -> None:
    server = served(submit(answer(cause(confidence=0.85))))
    investigate(server)
    assert not any(map(is_sceptic, server.requests))


def test_the_sceptic_spends_from_the_same_budget(served: Serve, investigate: Investigate) -> None:
    def endless(request: Received) -> Turn:
        return call("Read", path="train.log", start_line=len(request.messages), max_lines=1, tail=False)

    server = served(submit(answer()))
    server.script(endless, when=is_sceptic, forever=True)
    diagnosis = investigate(server, sceptic_calls=3)
    assert sum(map(is_sceptic, server.requests)) == 4
    assert diagnosis.root_causes[0].confidence == 0.89
