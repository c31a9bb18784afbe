"""A proof falls only where code finds it contradicted; what a model merely says stays beside it, in sight."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.llm.kit import Investigate, Serve, answer, cause, diagnosed, piece, quick
from traindx.contract import SETTLED, Diagnosis
from traindx.readers import Scope
from traindx.report import render
from traindx.runtime import Toolbelt
from traindx.testing import submit

pytestmark = pytest.mark.slow

RATE = "config.yaml, line 17"
JUMP = "metrics.csv, epoch 7"
LEAD = "lr-schedule-spike"


def refuted(locator: str = "", quote: str = "", source: str = "", refutes: str = RATE, **more: str) -> dict[str, str]:
    """A verdict on the proven lead of the broken example."""
    why = "the curve is what one expects of such a run"
    row = {"id": LEAD, "verdict": "refuted", "why": why, "refutes": refutes}
    return {**row, "source": source, "locator": locator, "quote": quote, **more}


# (what is held against it, the row)
IRRELEVANT: list[tuple[str, dict[str, str]]] = [
    ("the first line of the program", refuted("line 1", '"""Train a small', "train.py")),
    ("an import", refuted("line 6", "import csv", "train.py")),
    ("another setting", refuted("line 3", "batch_size: 50", "config.yaml")),
    ("another point of the curve, earlier", refuted("epoch 3 of train_loss", "0.1523", "metrics.csv", JUMP)),
    ("a later point that is as bad", refuted("epoch 9 of train_loss", "25.4956", "metrics.csv", JUMP)),
    ("the evidence itself", refuted("line 17", "lr: 0.4", "config.yaml")),
    ("the first phase's rate", refuted("line 15", "lr: 0.015", "config.yaml")),
    ("a place that does not exist", refuted("line 99", "lr: 0.0001", "config.yaml")),
    ("a file outside", refuted("line 1", "root", "/etc/passwd")),
    ("no place", refuted()),
    ("a place, and nothing that it refutes", refuted("line 15", "lr: 0.015", "config.yaml", refutes="")),
    ("everything at once", refuted("line 15", "lr: 0.015", "config.yaml", refutes="all of it")),
]


@pytest.mark.parametrize(("what", "row"), IRRELEVANT, ids=[what for what, _ in IRRELEVANT])
def test_a_proof_does_not_fall_on_a_quotation(
    served: Serve, investigate: Investigate, what: str, row: dict[str, str]
) -> None:
    server = served(submit(answer(status="healthy", causes=[], leads=[row])), forever=True)
    diagnosis = investigate(server)
    first = diagnosis.root_causes[0]
    assert diagnosis.status == "diagnosis_complete", what
    assert (first.id, first.confidence >= 0.89) == (LEAD, True), what
    # Both verdicts stay in sight.
    assert any("disagrees with a proven lead" in note and row["why"] in note for note in diagnosis.provenance.notes)


def test_a_rival_beside_a_proof_stays_below_it(served: Serve, investigate: Investigate) -> None:
    rival = cause(
        id="data-distribution-shift",
        issue="The data changed where the loss breaks.",
        confidence=0.99,
        evidence=[piece("line 11", "noise: 0.6")],
    )
    row = refuted("line 15", "lr: 0.015", "config.yaml")
    diagnosis = investigate(served(submit(answer(rival, leads=[row])), forever=True))
    assert [found.id for found in diagnosis.root_causes[:2]] == [LEAD, "data-distribution-shift"]
    assert diagnosis.root_causes[1].confidence < diagnosis.root_causes[0].confidence


def test_a_proof_that_the_log_contradicts_falls(served: Serve, tmp_path: Path, broken_run: Path) -> None:
    """The configured rate was never used: what the table logged for every epoch says so."""
    for name in ("config.yaml", "train.py"):
        (tmp_path / name).write_text((broken_run / name).read_text())
    rows = (broken_run / "metrics.csv").read_text().splitlines()
    (tmp_path / "metrics.csv").write_text("\n".join(row.replace(",0.4,", ",0.015,", 1) for row in rows) + "\n")
    said = "the rate was never raised: the table logs it"
    row = refuted("epoch 7 of lr", "0.015", "metrics.csv", why=said, id="learning-rate-too-high")
    server = served(submit(answer(status="needs_more_data", causes=[], leads=[row])), forever=True)
    with Toolbelt(Scope.of(tmp_path)) as tools:
        alone = diagnosed(tools, quick(server, api_key=""))
        argued = diagnosed(tools, quick(server))
    assert "learning-rate-too-high" in {found.id for found in alone.named}
    assert "learning-rate-too-high" not in {found.id for found in argued.named}
    assert any(said in text for text in argued.excluded)


def test_an_open_question_reaches_the_user_whatever_the_status(served: Serve, investigate: Investigate) -> None:
    asked = "Was the second phase of the schedule meant? `git log config.yaml` would tell."
    for status in ("diagnosis_complete", "needs_more_data"):
        server = served(submit(answer(status=status, questions=[asked])), forever=True)
        assert asked in investigate(server).questions


def _unsure(served: Serve, healthy_run: Path, confidence: float) -> Diagnosis:
    """What becomes of `needs_more_data` with a cause at this confidence, where the tools found nothing."""
    lr = piece("line 17", "lr: 0.015")
    odd = cause(id="noisy-gradients", issue="The batches are small.", confidence=confidence, evidence=[lr], fix=_fix())
    told = answer(odd, status="needs_more_data", questions=["How large are the gradients?"])
    with Toolbelt(Scope.of(healthy_run)) as tools:
        return diagnosed(tools, quick(served(submit(told), forever=True)))


def _fix() -> dict[str, Any]:
    return {**cause()["fix"], "diff": "", "summary": "Double batch_size to 100 in config.yaml."}


def test_a_submitted_ignorance_is_not_overruled_by_a_weak_cause(served: Serve, healthy_run: Path) -> None:
    diagnosis = _unsure(served, healthy_run, 0.6)
    assert all(found.confidence < SETTLED for found in diagnosis.named)
    assert diagnosis.status != "diagnosis_complete"
    assert "How large are the gradients?" in diagnosis.questions


def test_a_cause_without_an_id_has_a_name_and_a_limit(served: Serve, investigate: Investigate) -> None:
    odd = cause(
        id="other", title="the sampler repeats one shard", confidence=0.99, evidence=[piece("line 9", "train: 4000")]
    )
    diagnosis = investigate(served(submit(answer(cause(), odd)), forever=True))
    named = next(found for found in diagnosis.root_causes if found.id == "other")
    assert named.title == named.name == "the sampler repeats one shard"
    assert named.confidence <= 0.85


def test_a_cause_without_an_id_and_without_a_name_is_asked_for_one(served: Serve, investigate: Investigate) -> None:
    server = served(submit(answer(cause(), cause(id="other"))), submit(answer()))
    investigate(server)
    assert "`causes[1].title` is empty" in server.requests[1].last_words


@pytest.mark.parametrize(
    ("wrong", "never"),
    [
        ("learning-rate-to-low", "learning-rate-too-high"),
        ("exploding-gradient", "vanishing-gradients"),
        ("vanishing-gradient", "exploding-gradients"),
        ("overfit", "underfitting"),
        ("learning-rate-high", "learning-rate-too-low"),
    ],
)
def test_did_you_mean_is_never_the_contrary(served: Serve, investigate: Investigate, wrong: str, never: str) -> None:
    server = served(submit(answer(cause(id=wrong))), submit(answer()))
    investigate(server)
    asked = server.requests[1].last_words
    assert f"there is no failure mode `{wrong}`" in asked
    assert f"Did you mean `{never}`" not in asked


def test_one_place_cited_twice_is_one_piece_of_evidence(served: Serve, investigate: Investigate) -> None:
    twice = cause(evidence=[piece(), piece(claim="said once more"), piece("line 17, epoch 7")])
    found = investigate(served(submit(answer(twice)), forever=True)).root_causes[0]
    places = [(row.source, row.locator.partition(",")[0]) for row in found.evidence]
    assert len(places) == len(set(places))


def test_a_cause_is_never_both_named_and_set_aside(served: Serve, investigate: Investigate) -> None:
    told = answer(
        cause(), excluded=[f"`{LEAD}`: it did not last", "`exploding-gradients` follows from `lr-schedule-spike`"]
    )
    diagnosis = investigate(served(submit(told), forever=True))
    named = {found.id for found in diagnosis.root_causes}
    assert LEAD in named
    assert not any(text.startswith(f"`{name}`") for text in diagnosis.excluded for name in named)


def test_one_cause_in_two_wordings_is_one(served: Serve, investigate: Investigate) -> None:
    again = cause(issue="At epoch 7 the rate is 0.4, which is too much.", confidence=0.8)
    diagnosis = investigate(served(submit(answer(cause(), again)), forever=True))
    assert [found.id for found in diagnosis.root_causes].count(LEAD) == 1


def test_the_answer_to_the_users_question_comes_first(served: Serve, investigate: Investigate) -> None:
    said = "No: the batch size was 50 throughout; the rate is what changed."
    diagnosis = investigate(served(submit(answer(answer=said)), forever=True))
    assert diagnosis.answer == said
    text = render(diagnosis, "markdown")
    assert text.index(said) < text.index(diagnosis.summary)
