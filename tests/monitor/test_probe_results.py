"""A probe's answer in the run's folder is evidence like a log; a diagnosis that is open names the probe."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from traindx import diagnose
from traindx.api import gather_context
from traindx.contract import Citation, Diagnosis, Signal
from traindx.definitions.content import EXAMPLES
from traindx.monitor.probing.result import read_result, result_text
from traindx.readers import Scope
from traindx.runtime import Toolbelt, ToolResult
from traindx.vocabulary.probe_results import file_name

CLAIM = "`c` carries the graph of every earlier step: depth 0 -> 21 in 8 steps (train.py:11); `h` does not"
# Nothing in this loop shows a parser that the state is an LSTM's, or that it is not detached.
DYNAMIC = """\
import torch
from torch import nn
from data import batches
from model import build

model = build()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(50):
    for x, y in batches():
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
SHORT_LOG = "epoch 1 loss 0.89\nepoch 2 loss 0.88\nepoch 3 loss 0.87\n"


def answer(signal: str = "probed-cell-state-not-detached", claim: str = CLAIM, **more: Any) -> ToolResult:
    place = Citation(claim=claim, source="train.py", locator="line 11", quote="optimizer.zero_grad()")
    found = Signal(id=signal, claim=claim, citations=[place], facts={"state": "c", "state_place": "train.py:11"})
    output = {"summary": claim, "signals": [found.model_dump()]}
    return ToolResult.model_validate({"tool": "probe_state_flow", "status": "ok", "output": output, **more})


def run_with(folder: Path, text: str, name: str = file_name("state_flow")) -> Path:
    (folder / "train.py").write_text(DYNAMIC)
    (folder / "train.log").write_text(SHORT_LOG)
    (folder / name).write_text(text)
    return folder


def called(folder: Path) -> ToolResult:
    with Toolbelt(Scope.of(folder)) as toolbelt:
        return toolbelt.call("read_probe_results")


def cited(diagnosis: Diagnosis) -> list[tuple[str, str, bool]]:
    return [(one.source, one.locator, one.verified) for cause in diagnosis.root_causes[:1] for one in cause.evidence]


@pytest.mark.slow
def test_a_diagnosis_cites_the_probe_by_line_and_believes_it(tmp_path: Path) -> None:
    run = run_with(tmp_path, result_text(answer()))
    found = diagnose(run, brain="local")
    assert found.root_causes[0].id == "cell-state-not-detached"
    assert found.root_causes[0].confidence >= 0.9
    rows = (run / file_name("state_flow")).read_text().splitlines()
    line = next(number for number, row in enumerate(rows, 1) if '"claim"' in row)
    assert (file_name("state_flow"), f"line {line}", True) in cited(found)
    assert gather_context(run).artifacts.probes == [file_name("state_flow")]


@pytest.mark.slow
def test_what_the_program_shows_and_the_probe_measured_stand_together(tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(EXAMPLES / "frequency-lstm" / "correct", run)
    before = diagnose(run, brain="local")
    sound = answer("probed-state-sound", "`h` went through 24 steps without a graph")
    (run / file_name("state_flow")).write_text(result_text(sound))
    assert (before.status, diagnose(run, brain="local").status) == ("healthy", "healthy")


LIES = {
    "nothing": "",
    "binary": "\x00\x01\x02" * 500,
    "not json": "{'tool': 1}",
    "a list": "[1, 2, 3]",
    "deep": "[" * 100_000,
    "no answer": '{"tool": "probe_state_flow"}',
    "no such probe": '{"tool": "probe_rm_rf", "status": "ok", "output": {}}',
    "signals of the wrong kind": '{"tool": "probe_state_flow", "status": "ok", "output": {"signals": "all"}}',
    "a signal without a claim": '{"tool": "probe_state_flow", "status": "ok", "output": {"signals": [{"id": "x"}]}}',
}


@pytest.mark.parametrize("lie", LIES)
def test_a_file_of_that_name_that_is_no_answer_is_said_to_be_none(tmp_path: Path, lie: str) -> None:
    result = called(run_with(tmp_path, LIES[lie]))
    assert result.status == "ok"
    assert result.signals == []
    assert len(result.output["not_read"]) == 1


def test_a_probe_speaks_only_of_what_it_measures(tmp_path: Path) -> None:
    """A file that claims a signal of a tool, or of another probe, is not believed."""
    for signal in ("loss-diverged", "probed-lr-too-high", "error-device-memory"):
        assert called(run_with(tmp_path, result_text(answer(signal)))).signals == []


def test_an_answer_that_failed_says_nothing(tmp_path: Path) -> None:
    assert called(run_with(tmp_path, result_text(answer(status="failed", reason="it died")))).signals == []


def test_places_outside_the_folder_are_left_out(tmp_path: Path) -> None:
    kept = json.loads(result_text(answer()))
    kept["output"]["signals"][0]["citations"][0]["source"] = "/etc/passwd"
    signals = called(run_with(tmp_path, json.dumps(kept, indent=2))).signals
    assert [place.source for place in signals[0].citations] == [file_name("state_flow")]


def test_without_a_file_there_is_no_data(tmp_path: Path) -> None:
    assert called(run_with(tmp_path, "{}", "other.json")).status == "no_data"


def test_a_claim_in_one_line_keeps_its_place() -> None:
    kept = read_result(answer().model_dump_json(), "x.json")
    assert kept.signals[0].claim.endswith(CLAIM)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("message", "probe"),
    [
        ("memory grows from step to step until the process is killed", "memory_growth"),
        ("the hidden state of my LSTM is not handled right", "state_flow"),
    ],
)
def test_an_open_diagnosis_names_the_probe_with_its_command(tmp_path: Path, message: str, probe: str) -> None:
    (tmp_path / "train.py").write_text(DYNAMIC)
    (tmp_path / "train.log").write_text(SHORT_LOG)
    found = diagnose(tmp_path, message, brain="local")
    assert found.status == "needs_more_data"
    command = f"traindx probe {probe} --script {tmp_path}/train.py --output {tmp_path}/{file_name(probe)}"
    assert f"`{command}`" in found.questions[0]


@pytest.mark.slow
def test_a_settled_diagnosis_asks_for_no_probe() -> None:
    found = diagnose(EXAMPLES / "frequency-lstm" / "state-not-detached", brain="local")
    assert not any("traindx probe" in question for question in found.questions)


@pytest.mark.slow
def test_an_answer_about_another_program_is_not_believed(tmp_path: Path) -> None:
    """The line that it quotes is not in this program."""
    made_up = result_text(answer()).replace("optimizer.zero_grad()", "h, c = other(h, c)")
    found = diagnose(run_with(tmp_path, made_up), brain="local")
    assert all(cause.confidence <= 0.5 for cause in found.root_causes)
