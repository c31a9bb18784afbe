"""What an answer says: of several runs the worst, of health the reasons, of a claim only what the curve bears out."""

import json
import os
import pickle
import random
import re
from pathlib import Path
from typing import Any

import pytest

from tests.edges.conftest import Answer, causes, falling, plain
from tests.shells import Shell
from traindx import diagnose
from traindx.testing import ScriptedMessagesServer, call

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("good", "dead"), [("a.log", "b.log"), ("lr3.txt", "lr1.txt"), ("z/train.log", "a/train.log")])
def test_a_dead_run_beside_a_good_one_is_never_healthy(tmp_path: Path, answer: Answer, good: str, dead: str) -> None:
    for name, nan_from in ((good, None), (dead, 0)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(falling(150, nan_from=nan_from))
    found = answer(tmp_path)
    assert found["status"] == "diagnosis_complete"
    assert dead.partition(".")[0].partition("/")[0] in json.dumps(found["root_causes"])


def test_the_message_names_the_job_that_failed(tmp_path: Path, answer: Answer) -> None:
    (tmp_path / "slurm-4411.out").write_text(falling(200))
    end = "slurmstepd: error: *** JOB 4412 ON n7 CANCELLED AT 2026-01-03T11:00:00 DUE TO TIME LIMIT ***\n"
    (tmp_path / "slurm-4412.out").write_text(falling(120) + end)
    found = answer(tmp_path, "job 4412 did not finish, what happened?")
    assert found["status"] == "diagnosis_complete"
    assert causes(found)[0] == "time-limit"


def test_health_answers_what_the_user_said(tmp_path: Path, shell: Shell) -> None:
    (tmp_path / "train.log").write_text(falling(300))
    said = "it diverged and I got a CUDA out of memory"
    done = shell('traindx diagnose "$RUN" -m "$SAID"', RUN=tmp_path, SAID=said)
    report = plain(done.stdout).lower()
    assert "diverge" in report.split("diagnose", 1)[1].split('"')[-1], report
    assert "memory" in report.split('"')[-1]


def test_health_gives_its_reasons(tmp_path: Path, shell: Shell) -> None:
    (tmp_path / "train.log").write_text(falling(300))
    report = plain(shell('traindx diagnose "$RUN"', RUN=tmp_path).stdout)
    assert "HEALTHY" in report
    assert "300" in report, "over how many values"
    assert "traceback" in report.lower(), "what a crash would have left"


def test_changes_between_lines_of_a_progress_bar_are_found(tmp_path: Path, shell: Shell) -> None:
    bar = "".join(
        f"\r{step:3d}%|##        | {step}/100 [00:01<00:05, loss={2.3 / (1 + step):.3f}]" for step in range(100)
    )
    log = "".join(f"epoch {epoch}: {bar}\nepoch {epoch} loss {1.0 / (epoch + 1):.4f}\n" for epoch in range(12))
    (tmp_path / "train.log").write_text(log + "epoch 12 loss 9.0\n" * 8)
    done = shell('traindx tool find_changes "$RUN"', RUN=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert "failed" not in plain(done.stdout).lower()


CELL = """
import torch
from torch import nn

cell = nn.GRUCell(8, 16)
out = nn.Linear(16, 1)
optimizer = torch.optim.Adam([*cell.parameters(), *out.parameters()], lr=1e-3)
state = torch.zeros(4, 16)
for step, (x, y) in enumerate(loader):
    state = cell(x, state)
    loss = ((out(state) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
    print("step", step, "loss", loss.item())
"""


def test_a_state_that_is_one_tensor_is_carried(tmp_path: Path, shell: Shell) -> None:
    (tmp_path / "train.py").write_text(CELL)
    (tmp_path / "train.log").write_text(falling(100))
    done = shell('traindx tool check_recurrent_state "$RUN" --json', RUN=tmp_path)
    assert "state-carried-undetached" in done.stdout, done.stdout


def test_runs_whose_means_differ_do_differ(tmp_path: Path, shell: Shell) -> None:
    for name, level in (("good", 0.17), ("bad", 2.37)):
        (tmp_path / name).mkdir()
        scatter = random.Random(name)
        rows = [f"step {step} loss {level * scatter.lognormvariate(0, 1) / 1.65:.5f}\n" for step in range(400)]
        (tmp_path / name / "train.log").write_text("".join(rows))
    done = shell('traindx tool compare_runs "$ONE" "$TWO"', ONE=tmp_path / "good", TWO=tmp_path / "bad")
    assert "no lasting difference" not in plain(done.stdout)
    assert "train/loss at step" in plain(done.stdout)


def test_the_best_step_is_where_validation_was_logged(tmp_path: Path, answer: Answer) -> None:
    rows = []
    for step in range(1, 401):
        rows.append(f"step {step} train_loss {2.0 / (1 + step / 20):.4f}\n")
        if step % 20 == 0:
            rows.append(f"step {step} val_loss {1.0 + abs(step - 120) / 200:.4f}\n")
    (tmp_path / "train.log").write_text("".join(rows))
    found = answer(tmp_path)
    assert causes(found)[0] == "overfitting"
    cause = found["root_causes"][0]
    assert "step 120" in cause["issue"]
    assert "step 120" in cause["fix"]["summary"]
    assert "not in this folder" in cause["fix"]["summary"], "no checkpoint was saved"


def test_a_picture_gives_the_values_of_the_file(tmp_path: Path, shell: Shell) -> None:
    values = [40 / (1 + 0.1 * step) for step in range(38)] + [34.81, 32.55]
    (tmp_path / "run").mkdir()
    table = "step,loss\n" + "".join(f"{step},{value:.4f}\n" for step, value in enumerate(values))
    (tmp_path / "run" / "metrics.csv").write_text(table)
    done = shell('traindx diagnose "$RUN" --plot "$OUT"', RUN=tmp_path / "run", OUT=tmp_path / "loss.svg")
    assert done.returncode == 0, done.stderr
    assert "ends at 32.55" in (tmp_path / "loss.svg").read_text()


def test_a_range_of_nothing_is_not_told(tmp_path: Path, shell: Shell) -> None:
    rows = [f'{{"step": {step}, "loss": {2.0 / (1 + step):.4f}, "grad_norm": NaN}}\n' for step in range(60)]
    (tmp_path / "metrics.jsonl").write_text("".join(rows))
    report = plain(shell('traindx diagnose "$RUN" -v --specialist training-monitor', RUN=tmp_path).stdout)
    assert "nan to nan" not in report.lower()


def test_an_epoch_has_few_digits(tmp_path: Path, shell: Shell) -> None:
    rows = [{"epoch": number / 23, "loss": 2.0 / (1 + number) if number < 35 else 50.0} for number in range(70)]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = plain(shell('traindx diagnose "$RUN"', RUN=tmp_path).stdout)
    said = " ".join(line for line in report.split(" > ") if not line.startswith("{"))
    assert not re.search(r"epoch \d+\.\d{6,}", re.sub(r"\{.*?\}", "", said))


def test_the_last_line_names_no_specialist_where_none_was_sent(tmp_path: Path, shell: Shell) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.log").write_text(falling(60))
    report = plain(shell('traindx diagnose "$RUN"', RUN=tmp_path).stdout)
    assert "nobody" not in report
    assert "none mind" not in report


def test_what_to_do_otherwise_reads_as_a_sentence(tmp_path: Path, shell: Shell) -> None:
    rows = [f"{e},{1.5 / (1 + e / 4):.4f},{0.8 + 0.02 * abs(e - 9):.4f}\n" for e in range(60)]
    (tmp_path / "metrics.csv").write_text("epoch,train_loss,val_loss\n" + "".join(rows))
    report = plain(shell('traindx diagnose "$RUN" --format markdown', RUN=tmp_path).stdout)
    assert "If regularization lowers" in report
    assert "If that fails: If" not in report


def submitted(claim: str) -> dict[str, Any]:
    """What a model hands in: a true quote under a claim that may not be true."""
    evidence = {"claim": claim, "kind": "direct", "source": "metrics.csv", "locator": "line 4", "quote": "3,0.67,0.80"}
    fix = {"summary": "Stop at epoch 3.", "expected": "a lower loss", "verify": "run again", "fallback": "more data"}
    cause = {"id": "overfitting", "issue": "Validation turned.", "severity": "medium", "confidence": 0.8}
    headings = (
        "Training Status Summary", "Key Findings", "Recommended Actions", "Expected Outcomes", "Monitoring Plan",
    )  # fmt: skip
    return {
        "status": "diagnosis_complete",
        "causes": [{**cause, "evidence": [evidence], "fix": fix}],
        "leads": [],
        "excluded": [],
        "questions": [],
        "sections": [{"heading": heading, "text": f"About {heading}."} for heading in headings],
    }


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        ("the best val_loss is 0.80, at epoch 3", True),
        ("the best val_loss is 0.95, at epoch 3", False),
        ("the mean of val_loss is 0.80", False),
        ("val_loss falls from epoch 3 on", False),
    ],
)
def test_a_claim_about_a_curve_is_verified_by_the_curve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, claim: str, holds: bool
) -> None:
    values = [1.2, 0.95, 0.80, 1.1, 1.4, 1.8, 2.0, 2.2, 2.4, 2.6]
    rows = "".join(f"{i},{2.0 / i:.2f},{v:.2f}\n" for i, v in enumerate(values, 1))
    (tmp_path / "metrics.csv").write_text("epoch,train_loss,val_loss\n" + rows)
    with ScriptedMessagesServer(call("submit_diagnosis", **submitted(claim)), forever=True) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-key")
        found = diagnose(tmp_path, "val loss goes up", brain="claude", specialist="training-monitor")
    pieces = [row for cause in found.root_causes for row in cause.evidence if claim in row.claim]
    # What does not hold is marked, or gives way to what the tools have shown.
    assert any(row.verified for row in pieces) is holds, found.model_dump_json()[:2000]


def notebook(folder: Path) -> None:
    def cell(number: int, source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
        lines = source.splitlines(keepends=True)
        return {
            "cell_type": "code", "execution_count": number, "metadata": {}, "source": lines, "outputs": list(outputs),
        }  # fmt: skip

    trace = [
        "\x1b[0;31m---------------------------------------------------------------------------\x1b[0m",
        "\x1b[0;31mRuntimeError\x1b[0m                              Traceback (most recent call last)",
        "Cell \x1b[0;32mIn[3], line 2\x1b[0m\n\x1b[1;32m      1\x1b[0m x = torch.randn(4, 9)\n"
        "\x1b[0;32m----> 2\x1b[0m out = net(x)\n",
        "\x1b[0;31mRuntimeError\x1b[0m: mat1 and mat2 shapes cannot be multiplied (4x9 and 8x2)",
    ]
    error = {
        "output_type": "error", "ename": "RuntimeError", "traceback": trace,
        "evalue": "mat1 and mat2 shapes cannot be multiplied (4x9 and 8x2)",
    }  # fmt: skip
    cells = [
        cell(1, "import torch\nfrom torch import nn"),
        cell(2, "net = nn.Linear(8, 2)"),
        cell(3, "x = torch.randn(4, 9)\nout = net(x)", error),
    ]
    (folder / "train.ipynb").write_text(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )


def test_a_traceback_in_a_notebook_is_verified_and_placed_by_its_cell(tmp_path: Path, answer: Answer) -> None:
    notebook(tmp_path)
    found = answer(tmp_path)
    assert causes(found)[0] == "shape-mismatch"
    cause = found["root_causes"][0]
    assert cause["confidence"] > 0.9
    assert all(row["verified"] for row in cause["evidence"])
    assert any(row["locator"].startswith("cell 3, line 2") for row in cause["evidence"])


class Hostile:
    """Runs a command when it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("true",)


def test_what_a_reader_must_know_is_shown_without_asking(tmp_path: Path, shell: Shell) -> None:
    (tmp_path / "empty").mkdir()
    assert "no readable file" in plain(shell('traindx diagnose "$RUN"', RUN=tmp_path / "empty").stdout)
    run = tmp_path / "run"
    run.mkdir()
    (run / "train.log").write_text(falling(200))
    (run / "model.pt").write_bytes(pickle.dumps(Hostile(), protocol=2))
    (run / "data.log").symlink_to("/etc/hostname")
    report = plain(shell('traindx diagnose "$RUN"', RUN=run).stdout)
    assert "do not unpickle" in report
    assert "data.log" in report
    assert "not followed" in report


def test_which_run_was_picked_is_shown_without_asking(tmp_path: Path, shell: Shell) -> None:
    for name, nan_from in (("seed1", None), ("seed2", 40), ("seed3", None)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.log").write_text(falling(120, nan_from=nan_from))
    report = plain(shell('traindx diagnose "$RUN"', RUN=tmp_path).stdout)
    assert "seed2" in report.split("DIAGNOSIS")[0] + report.split("Evidence")[0] + report.split("Runs")[-1]
    assert "seed1" in report
    assert "seed3" in report
