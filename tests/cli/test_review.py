"""`traindx review`, in processes of its own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.program.samples import PRELUDE

pytestmark = pytest.mark.slow

Command = Callable[..., subprocess.CompletedProcess[str]]
FAULTY = (
    PRELUDE
    + """
for x, y in loader:
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
"""
)
SOUND = FAULTY.replace("    loss.backward()", "    optimizer.zero_grad()\n    loss.backward()")


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_text(FAULTY)
    return folder


def test_a_fault_is_named_with_its_place_and_a_diff_that_mends_it(traindx: Command, faulty: Path) -> None:
    done = traindx("review", faulty)
    assert done.returncode == 1
    assert "train.py:15: missing-zero-grad" in done.stdout
    assert "+    optimizer.zero_grad()" in done.stdout


def test_sound_code_passes(traindx: Command, faulty: Path) -> None:
    (faulty / "train.py").write_text(SOUND)
    done = traindx("review", faulty)
    assert (done.returncode, done.stdout) == (0, "No findings in 1 file.\n")


def test_a_comment_leaves_a_line_out(traindx: Command, faulty: Path) -> None:
    text = FAULTY.replace("    optimizer.step()", "    optimizer.step()  # traindx: ignore[missing-zero-grad]")
    (faulty / "train.py").write_text(text)
    assert traindx("review", faulty).returncode == 0
    (faulty / "train.py").write_text(text.replace("missing-zero-grad", "missing-eval-mode"))
    assert traindx("review", faulty).returncode == 1


def test_machines_can_read_it(traindx: Command, faulty: Path) -> None:
    found = json.loads(traindx("review", faulty, "--format", "json").stdout)["findings"]
    assert [(row["rule"], row["line"]) for row in found] == [("missing-zero-grad", 15)]
    sarif = json.loads(traindx("review", faulty, "--format", "sarif").stdout)
    assert sarif["runs"][0]["results"][0]["ruleId"] == "missing-zero-grad"
    assert traindx("review", faulty, "--format", "github").stdout.startswith("::error file=train.py,line=15,")


def test_only_what_a_change_touches(traindx: Command, faulty: Path) -> None:
    git = ["git", "-C", str(faulty), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    assert traindx("review", faulty, "--diff", "HEAD").returncode == 0
    (faulty / "train.py").write_text(FAULTY.replace("    optimizer.step()", "    optimizer.step()  # now"))
    assert traindx("review", faulty, "--diff", "HEAD").returncode == 1
    assert traindx("review", faulty, "--diff", "nowhere").returncode == 2


def test_the_bar_can_be_raised(traindx: Command, faulty: Path) -> None:
    assert traindx("review", faulty, "--fail-on", "critical").returncode == 1
    assert traindx("review", faulty, "--exit-zero").returncode == 0


LOGITS = """import torch
import torch.nn as nn
from torch.utils.data import DataLoader


def train(data):
    model = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 1)END)
    optimizer = torch.optim.Adam(model.parameters())
    loss_of = nn.BCELoss()
    for x, y in DataLoader(data, batch_size=32, shuffle=True):
        loss = loss_of(model(x).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_a_diff_changes_the_program_at_fault_and_not_one_beside_it(traindx: Command, tmp_path: Path) -> None:
    for name, end in (("a", ", nn.Sigmoid()"), ("b", "")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.py").write_text(LOGITS.replace("END", end))
    (found,) = json.loads(traindx("review", tmp_path, "--format", "json").stdout)["findings"]
    assert (found["path"], found["diff"].splitlines()[0]) == ("b/train.py", "--- a/b/train.py")


def test_much_code_is_shared_out_and_gives_what_its_parts_give(traindx: Command, tmp_path: Path) -> None:
    padding = "# " + "x" * 78 + "\n"
    for number in range(8):
        text = FAULTY if number % 2 else SOUND
        (tmp_path / f"run{number}").mkdir()
        (tmp_path / f"run{number}" / "train.py").write_text(text + padding * 2000)
    found = json.loads(traindx("review", tmp_path, "--format", "json").stdout)
    assert [row["path"] for row in found["findings"]] == [f"run{number}/train.py" for number in (1, 3, 5, 7)]
    assert (found["files"], found["whole"]) == (8, True)
