"""What a model makes up never passes as verified, and never leaves a confidence above one half."""

from typing import Any

import pytest

from tests.llm.kit import Investigate, Serve, answer, cause, piece
from traindx.testing import submit

pytestmark = pytest.mark.slow

METRICS = "metrics.csv"
# (what is made up, the piece of evidence)
FABRICATED: list[tuple[str, dict[str, str]]] = [
    # a quote that is not in the file
    ("another value", piece("line 17", "lr: 0.04")),
    ("another key", piece("line 17", "learning_rate: 0.4")),
    ("a line that does not exist anywhere", piece("line 16", "warmup: 500")),
    ("an error nobody printed", piece("line 16", "RuntimeError: CUDA out of memory", "train.log")),
    ("a row of another table", piece("line 8", "7,0.4,99.1,18.2389,0.176,6.978", METRICS)),
    ("code that was never written", piece("line 60", "loss.backward(retain_graph=True)", "train.py")),
    ("a quote with an ellipsis", piece("line 8", "7,0.4,...,6.978", METRICS)),
    ("two lines in one quote", piece("line 16", "from_epoch: 7\n    lr: 0.4")),
    ("a quote of the right words in another order", piece("line 17", "0.4 :lr")),
    ("a quote with the line number inside", piece("line 17", "17\tlr: 0.4")),
    # the right quote in the wrong place
    ("one line too early", piece("line 16", "lr: 0.4")),
    ("one line too late", piece("line 17", "from_epoch: 7")),
    ("the right line of the wrong file", piece("line 17", "lr: 0.4", "train.py")),
    ("the wrong epoch of the table", piece("line 7", "7,0.4,27.6908", METRICS)),
    # lines past the end, and no lines
    ("line 18 of 17", piece("line 18", "lr: 0.4")),
    ("line 999", piece("line 999", "lr: 0.4")),
    ("line 10000000", piece("line 10000000", "27.6908", METRICS)),
    ("line 0", piece("line 0", "seed: 13")),
    # files that are not there, or not to be read
    ("no such file", piece("line 1", "lr: 0.4", "configs/base.yaml")),
    ("a file outside", piece("line 1", "root", "../../../etc/passwd")),
    ("an absolute path", piece("line 1", "root:x:0:0", "/etc/passwd")),
    ("a folder", piece("line 1", "x", ".")),
    # steps that do not exist
    ("epoch 13 of 12", piece("epoch 13 of train_loss", "32.5485", METRICS)),
    ("epoch 0", piece("epoch 0 of train_loss", "1.5443", METRICS)),
    ("epoch 7.5", piece("epoch 7.5 of train_loss", "27.6908", METRICS)),
    ("steps where epochs are counted", piece("step 7 of train_loss", "27.6908", METRICS)),
    ("step 24590", piece("step 24590 of train_loss", "27.6908", METRICS)),
    ("a series nobody logged", piece("epoch 7 of test_loss", "27.6908", METRICS)),
    ("a series of another file", piece("epoch 7 of train_loss", "27.6908", "config.yaml")),
    # numbers off by a factor of two and more
    ("the value doubled", piece("epoch 7 of train_loss", "55.3816", METRICS)),
    ("the value halved", piece("epoch 7 of train_loss", "13.8454", METRICS)),
    ("the value of the epoch before", piece("epoch 7 of train_loss", "0.1020", METRICS)),
    ("another decimal point", piece("epoch 6 of train_loss", "1.020", METRICS)),
    ("a value in words", piece("epoch 7 of train_loss", "about 28", METRICS)),
    ("nan where there is a number", piece("epoch 7 of train_loss", "nan", METRICS)),
    # true quotes, false claims
    ("the loss doubled in the claim", piece("line 8", "7,0.4,27.6908", METRICS, claim="the loss jumps to 55.38")),
    ("the loss halved in the claim", piece("line 8", "7,0.4,27.6908", METRICS, claim="the loss jumps to 13.85")),
    ("the rate doubled in the claim", piece(claim="the rate is raised to 0.8")),
    ("the rate halved in the claim", piece(claim="the rate is raised to 0.2")),
    ("a norm nobody measured", piece("line 8", "6.978", METRICS, claim="the gradient norm reaches 13.96")),
    ("a factor that does not follow", piece("line 8", "27.6908", METRICS, claim="the loss grows 900x")),
    ("a percentage that does not follow", piece("line 8", "0.176", METRICS, claim="accuracy loses 37 %")),
    ("an epoch the run never reached", piece(claim="from epoch 40 on the rate is too high")),
    ("a line the file has not", piece(claim="line 230 raises the rate")),
    ("a point with a doubled claim", piece("epoch 7 of lr", "0.4", METRICS, claim="the rate is 0.8 at epoch 7")),
    ("a number and no quote", piece("epoch 7 of train_loss", "", METRICS, claim="the loss is 55.38")),
    ("a number, a line and no quote", piece("line 17", "", claim="the rate is 0.8")),
    # no place at all
    ("a quote of nowhere, without a place", piece("", "learning rate exploded")),
    ("a vague place", piece("near the top", "warmup: 500")),
    ("a tensor of no checkpoint", piece("tensor encoder.weight", "[512, 512]", "model.pt")),
    ("a tensor of a text file", piece("tensor lr", "[1]")),
]  # fmt: skip


def test_there_are_at_least_forty() -> None:
    assert len(FABRICATED) >= 40
    assert len({what for what, _ in FABRICATED}) == len(FABRICATED)


@pytest.mark.parametrize(("what", "made_up"), FABRICATED, ids=[row[0] for row in FABRICATED])
def test_made_up_evidence_beside_true_evidence(
    served: Serve, investigate: Investigate, what: str, made_up: dict[str, str]
) -> None:
    stubborn = submit(answer(cause(evidence=[piece(), made_up], confidence=0.98)))
    diagnosis = investigate(served(stubborn, stubborn))
    named = next(row for row in diagnosis.root_causes if row.id == "lr-schedule-spike")
    assert named.evidence[0].verified
    assert not named.evidence[1].verified
    assert named.confidence <= 0.5


@pytest.mark.parametrize(("what", "made_up"), FABRICATED[::3], ids=[row[0] for row in FABRICATED[::3]])
def test_a_cause_that_is_all_made_up(
    served: Serve, investigate: Investigate, what: str, made_up: dict[str, str]
) -> None:
    stubborn = submit(answer(cause(id="overfitting", evidence=[made_up], confidence=0.98)))
    diagnosis = investigate(served(stubborn, stubborn))
    for row in diagnosis.root_causes:
        if row.id == "overfitting":
            assert row.confidence <= 0.5
            assert not any(evidence.verified for evidence in row.evidence)


TRUE = [
    piece(),
    piece("line 17", "    lr: 0.4"),
    piece("line 8", "7,0.4,27.6908,18.2389,0.176,6.978", METRICS, claim="the loss goes from 0.102 to 27.69 at epoch 7"),
    piece("epoch 7 of train/loss", "27.69", METRICS, claim="27.7 at epoch 7, from 0.102 at epoch 6"),
    piece("line 10", "train loss 27.6908", "train.log", claim="the loss grows 271x within one epoch"),
    piece("line 8", "0.176", METRICS, claim="accuracy falls from 0.961 to 0.176 in 1 epoch"),
    piece("epoch 7 of grad_norm", "6.978", METRICS, claim="the norm is 6.98 where it was 0.644"),
    piece("line 17", "lr: 0.4", claim="the second of 2 phases starts at epoch 7 with 0.4 instead of 0.015"),
]


@pytest.mark.parametrize("true", TRUE, ids=[row["claim"][:40] + row["locator"] for row in TRUE])
def test_true_evidence_is_believed(served: Serve, investigate: Investigate, true: dict[str, str]) -> None:
    diagnosis = investigate(served(submit(answer(cause(evidence=[true])))))
    assert diagnosis.root_causes[0].evidence[0].verified
    assert diagnosis.root_causes[0].confidence == 0.96


def fix(**changes: str) -> dict[str, str]:
    return {**cause()["fix"], **changes}


CONTRADICTED = [
    ("lowers to what it is", fix(summary="Lower the learning rate to 0.4.", diff=""), "`schedule[1].lr` is 0.4"),
    ("lowers to more", fix(summary="Reduce lr to 0.5 for stability.", diff=""), "`schedule[1].lr` is 0.4"),
    ("raises to less", fix(summary="Increase the batch size to 32.", diff=""), "`batch_size` is 50"),
    ("raises to the same", fix(summary="Raise `epochs` to 12.", diff=""), "`epochs` is 12"),
    ("from a value it never had", fix(summary="Lower lr from 3e-4 to 1e-4.", diff=""), "from 3e-4"),
    (
        "a file that is not there",
        fix(summary="Set lr to 0.015 in conf/optim.yaml.", diff=""),
        "no file `conf/optim.yaml`",
    ),
    (
        "a diff for no file",
        fix(diff="--- a/cfg.yaml\n+++ b/cfg.yaml\n@@ -1 +1 @@\n-lr: 1\n+lr: 2\n"),
        "no file `cfg.yaml`",
    ),
    (
        "a diff for no line",
        fix(diff="--- a/config.yaml\n+++ b/config.yaml\n@@ -3 +3 @@\n-lr: 9\n+lr: 1\n"),
        "no line `lr: 9`",
    ),
]


@pytest.mark.parametrize(("what", "wrong", "why"), CONTRADICTED, ids=[row[0] for row in CONTRADICTED])
def test_a_fix_that_the_run_contradicts_is_replaced(
    served: Serve, investigate: Investigate, what: str, wrong: dict[str, str], why: str
) -> None:
    stubborn = submit(answer(cause(fix=wrong)))
    server = served(stubborn, stubborn)
    diagnosis = investigate(server)
    shown = diagnosis.root_causes[0].fix
    assert shown.summary != wrong["summary"] or shown.diff != wrong["diff"]
    assert "0.015" in shown.summary
    assert any("was replaced by the catalog's" in note and why in note for note in diagnosis.provenance.notes)
    assert why in server.requests[1].last_words


@pytest.mark.parametrize(
    "good",
    [
        fix(),
        fix(summary="Lower the learning rate to 0.015 from epoch 7 on.", diff=""),
        fix(summary="Reduce lr from 0.4 to 0.02.", diff=""),
        fix(summary="Add gradient clipping at 1.0 in train.py.", diff=""),
        fix(summary="Raise the batch size to 200.", diff=""),
    ],
    ids=str,
)
def test_a_fix_that_fits_stays(served: Serve, investigate: Investigate, good: dict[str, Any]) -> None:
    diagnosis = investigate(served(submit(answer(cause(fix=good)))))
    assert diagnosis.root_causes[0].fix.summary == good["summary"]


@pytest.mark.parametrize(
    ("issue", "stands"),
    [
        ("The rate rises from 0.015 to 0.4 at epoch 7, and the loss goes from 0.102 to 27.69.", True),
        ("The rate rises 27-fold where the loss breaks.", True),
        ("The schedule raises the rate too far at epoch 7.", True),
        ("The rate rises from 0.015 to 0.8 at epoch 7.", False),
        ("The loss jumps to 55.4 when the rate is raised.", False),
        ("The rate is raised at epoch 40.", False),
        # in the user's message, in what a tool printed, and by one step from what stands there
        ("The loss went up after epoch 7, by 27.59.", True),
        ("Accuracy falls from 96.1 % to 17.6 %, a loss of 78.5 points.", True),
        ("The norm grows from 0.644 to 6.978, or 10.8 times.", True),
        ("The norm grows from 0.644 to 6.978, or 31.7 times.", False),
        ("The rate is 0.4 where the optimizer is usually given 0.0007.", False),
    ],
)
def test_the_sentence_that_everyone_reads_holds_no_made_up_number(
    served: Serve, investigate: Investigate, issue: str, stands: bool
) -> None:
    server = served(submit(answer(cause(issue=issue))), forever=True)
    diagnosis = investigate(server)
    assert (diagnosis.summary == issue) is stands
    assert any("marked [unverified]" in note for note in diagnosis.provenance.notes) is not stands
    if not stands:
        # The sentence stays as it was written, but for the mark; and the model was told which number it is.
        assert diagnosis.summary.replace(" [unverified]", "") == issue
        assert "`causes[0].issue`" in server.requests[1].last_words
