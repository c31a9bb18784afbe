"""Fixes as code in the run's own names, and the texts to read."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from traindx import diagnose
from traindx.api import gather_context
from traindx.cli import main
from traindx.contract import ConfigValue
from traindx.diagnosis.references import load_references
from traindx.diagnosis.templates import load_templates, template_for

IDS = (Path(__file__).parents[2] / "prompts" / "failure_mode_ids.yaml").read_text()
SCRIPT = """
import torch
from torch import nn
from torch.utils.data import DataLoader

net = nn.LSTM(4, 8)
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
train_loader = DataLoader([1, 2])
for batch in train_loader:
    objective = net(batch).sum()
    objective.backward()
    opt.step()
"""


@pytest.mark.parametrize("name", load_templates())
def test_every_template_gives_python_and_mends_what_exists(name: str) -> None:
    template = load_templates()[name]
    ast.parse(textwrap.dedent(template.example({})))
    assert all(f" {mode}" in IDS for mode in template.mends)
    assert "{{" not in template.filled({})


def test_a_template_speaks_in_the_words_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "config.yaml").write_text("max_grad_norm: 0.25\n")
    context = gather_context(tmp_path)
    assert context.names == {"model": "net", "optimizer": "opt", "loader": "train_loader", "loss": "objective"}
    text = load_templates()["clip-gradients"].filled(context.names, context.settings)
    assert "objective.backward()" in text
    assert "clip_grad_norm_(net.parameters(), max_norm=0.25)" in text
    assert "opt.step()" in text


def test_values_are_those_of_the_configuration_before_those_of_the_code() -> None:
    rows = [ConfigValue(key="batch_size", value=64, source="train.py", line=3)]
    ladder = load_templates()["oom-ladder"]
    assert "batch_size=32" in ladder.filled({}, rows)
    assert "batch_size=8" in ladder.filled({}, [*rows, ConfigValue(key="bs", value=16, source="a.yaml", line=1)])


def test_the_frequent_fixes_have_a_template() -> None:
    for cause in ("exploding-gradients", "missing-warmup", "state-not-detached", "cuda-out-of-memory",
                  "dataloader-worker-died", "resume-discontinuity", "loss-scale-collapse"):  # fmt: skip
        assert template_for(cause) is not None


def test_a_cause_without_a_diff_shows_the_change_in_the_runs_names(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "train.log").write_text(
        "epoch 1 loss 2.0\nTraceback (most recent call last):\n"
        '  File "train.py", line 9, in <module>\n    for batch in train_loader:\n'
        "RuntimeError: DataLoader worker (pid 12) exited unexpectedly with exit code 1.\n"
    )
    found = diagnose(tmp_path, brain="local")
    assert found.root_causes[0].id == "dataloader-worker-died"
    assert "train_loader = DataLoader(" in found.root_causes[0].fix.example


@pytest.mark.parametrize("name", [*load_references(), "clip-gradients"])
def test_texts_are_read_with_explain(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", name]) == 0
    shown = capsys.readouterr().out
    assert len(shown.splitlines()) > 8
    assert "{{" not in shown


def test_the_list_names_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("debugging-checklist", "oom-ladder", "fix templates"))
