"""A verdict of health gives its reasons and answers what the user reported, point by point."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from traindx import diagnose
from traindx.api import gather_context
from traindx.contract import Diagnosis, Signal
from traindx.pipeline.health import with_reasons
from traindx.pipeline.request import understand
from traindx.report import render

DONE = "training finished, best model saved\n"


def log(ending: str = DONE, extra: str = "") -> str:
    rows = [f"epoch {n} loss {2.3 * math.exp(-n / 12) + 0.2:.4f}{extra}" for n in range(1, 60)]
    return "\n".join(rows) + "\n" + ending


def diagnosed(folder: Path, message: str, text: str) -> Diagnosis:
    (folder / "train.log").write_text(text)
    return diagnose(folder, message, brain="local")


def verdicts(diagnosis: Diagnosis) -> dict[str, str]:
    return {row.said.partition(" at ")[0]: row.verdict for row in diagnosis.answers}


def test_health_says_what_was_looked_at(tmp_path: Path) -> None:
    diagnosis = diagnosed(tmp_path, "", log())
    assert diagnosis.status == "healthy"
    said = " ".join(diagnosis.reasons)
    assert "fell from" in said
    assert "all 59 logged values of `train/loss` are finite" in said
    assert "`train.log`: no error or traceback" in said
    assert "ended normally" in said
    assert diagnosis.answers == []


def test_what_the_user_reports_and_the_log_refutes_is_answered(tmp_path: Path) -> None:
    diagnosis = diagnosed(tmp_path, "It diverged and I got a CUDA out of memory", log())
    assert verdicts(diagnosis) == {"Loss diverged": "not seen", "Memory ran out": "not seen"}
    assert "Memory ran out: not seen" in " ".join(render(diagnosis).split())


@pytest.mark.parametrize("message", ["I got a CUDA out of memory", "it crashed with an error"])
def test_an_end_that_the_log_does_not_show_is_no_health(message: str, tmp_path: Path) -> None:
    diagnosis = diagnosed(tmp_path, message, log(ending=""))
    assert diagnosis.status == "needs_more_data"
    assert list(verdicts(diagnosis).values()) == ["cannot be seen here"]
    assert "tee train.log" in diagnosis.questions[0]


def test_a_report_that_the_log_goes_beyond_is_answered(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("lr: 0.001\nbatch_size: 32\n")
    diagnosis = diagnosed(tmp_path, "it crashed at epoch 12", log(ending=""))
    assert diagnosis.status == "healthy"
    assert list(verdicts(diagnosis).values()) == ["not seen"]


def test_what_is_seen_but_no_failure_is_said_to_be_seen(tmp_path: Path) -> None:
    rows = [(n, 2.3 * math.exp(-n / 12) + 0.2, 900 + 90 * min(n, 10)) for n in range(1, 60)]
    settles = "".join(f"step {n} loss {loss:.4f} gpu_mem_mb {memory}\n" for n, loss, memory in rows)
    diagnosis = diagnosed(tmp_path, "memory grows step by step", settles + DONE)
    assert diagnosis.status == "healthy"
    assert verdicts(diagnosis) == {"Memory grows during training": "seen"}


def test_a_fatal_line_in_our_own_summary_is_no_health(tmp_path: Path) -> None:
    killed = log(ending="slurmstepd: error: Detected 1 oom-kill event(s) in StepId=7.0\n")
    assert diagnosed(tmp_path, "how did it go?", killed).status != "healthy"


def test_a_run_that_is_asked_about_only_has_reasons_and_no_answers(tmp_path: Path) -> None:
    diagnosis = diagnosed(tmp_path, "does this look ok?", log())
    assert diagnosis.reasons
    assert diagnosis.answers == []


def test_an_error_that_the_run_survived_is_not_denied(tmp_path: Path) -> None:
    failed = 'Traceback (most recent call last):\n  File "train.py", line 9, in save\nOSError: [Errno 5] no answer\n'
    rows = log().splitlines()
    text = "\n".join([*rows[:20], failed + "retrying", *rows[20:]]) + "\n"
    diagnosis = diagnosed(tmp_path, "it crashed at epoch 20", text)
    assert diagnosis.status == "healthy"
    said = " ".join(diagnosis.reasons)
    assert "no error or traceback" not in said
    assert "1 error after which the run went on (first: train.log:23)" in said


@pytest.mark.parametrize(
    "message",
    [
        "validation is fine, but on real customers the scores are useless",
        "accuracy 97 %. However it never finds a single defect",
        "it is no better than always guessing the mean",
        "the agent does worse than random",
        "outputs the same class for every picture",
        "our users complain about the translations",
        "one epoch takes as long as with the big model",
    ],
)
def test_a_bad_result_that_the_artifacts_do_not_show_is_no_health(message: str, tmp_path: Path) -> None:
    diagnosis = diagnosed(tmp_path, message, log())
    assert diagnosis.status == "needs_more_data"
    assert "does not show what you report" in diagnosis.summary
    assert diagnosis.questions


@pytest.mark.parametrize(
    "message",
    [
        "is this run better than the last one?",
        "the loss is noisy but it falls",
        "validation is better than training, leakage?",
        "the loss goes up and down, always the same pattern, is that bad?",
        "works now, but please check it once more",
        "loss is the same as with the big batch now, ok?",
    ],
)
def test_a_worry_about_a_curve_is_none(message: str, tmp_path: Path) -> None:
    assert diagnosed(tmp_path, message, log()).status == "healthy"


def still(end: float) -> str:
    rows = [f"epoch {n} train_loss {1.386 - (1.386 - end) * n / 40:.4f}" for n in range(41)]
    return "\n".join(rows) + "\n" + DONE


def test_a_standstill_that_the_user_sees_and_the_curve_shows_is_no_health(tmp_path: Path) -> None:
    diagnosis = diagnosed(tmp_path, "the loss stays at 1.386, is the network too small?", still(1.343))
    assert diagnosis.status != "healthy"


def test_a_standstill_that_only_the_user_sees_is_answered(tmp_path: Path) -> None:
    diagnosis = diagnosed(tmp_path, "the loss stays where it is", log())
    assert diagnosis.status == "healthy"


STAGES = "stage one is fine, but stage two does not learn"


def stages(folder: Path, second: list[float]) -> Diagnosis:
    """Two logs of one run, of which the second one's losses are given."""
    first = [0.23 + 0.47 * math.exp(-n) for n in range(9)]
    for name, losses in (("stage1", first), ("stage2", second)):
        rows = [f"[{name}] epoch {n} loss {value:.4f}" for n, value in enumerate(losses, 1)]
        (folder / f"{name}.log").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return diagnose(folder, STAGES, brain="local")


def test_a_later_stage_that_stands_still_as_the_user_says_is_no_health(tmp_path: Path) -> None:
    diagnosis = stages(tmp_path, [0.716, 0.697, 0.695, 0.694, 0.696, 0.696, 0.691, 0.693, 0.697])
    assert diagnosis.status == "needs_more_data"
    assert "from 0.716 to 0.697" in diagnosis.summary


def test_a_stage_that_continues_at_a_good_level_is_healthy(tmp_path: Path) -> None:
    assert stages(tmp_path, [0.231, 0.229, 0.231, 0.228, 0.229, 0.227, 0.228, 0.226, 0.227]).status == "healthy"


def test_a_log_without_a_value_shows_no_health(tmp_path: Path) -> None:
    diagnosis = diagnosed(tmp_path, "", log())
    seen = gather_context(tmp_path)
    signals = [Signal(id="outputs-varied", claim="the last 12 samples are all different")]
    for series, status in ((seen.series, "healthy"), ([], "needs_more_data")):
        context = seen.model_copy(update={"series": series})
        assert with_reasons(diagnosis, understand("", seen), context, signals).status == status
