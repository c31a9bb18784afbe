"""What a program is made of, and how its recurrent state flows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.calling import call, load
from traindx.readers import Run, Scope
from traindx.runtime import NoData

PROGRAM = """\
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--hidden", type=int, default=16)
args = parser.parse_args()
rnn, head = nn.GRU(4, args.hidden, batch_first=True), nn.Linear(args.hidden, 1)
opt = torch.optim.Adam([*rnn.parameters(), *head.parameters()], lr=3e-3)
series, target = torch.randn(2, 200, 4), torch.randn(2, 200, 1)
state = None
for epoch in range(5):
    for t in range(0, 200, 20):
        out, state = rnn(series[:, t : t + 20], state)
        state = state.detach()
        loss = nn.functional.mse_loss(head(out), target[:, t : t + 20])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(rnn.parameters(), 0.5)
        opt.step()
"""


def run_of(folder: Path, text: str) -> Run:
    (folder / "train.py").write_text(text)
    return Run(Scope.of(folder))


def test_facts_have_their_place_and_say_how_sure_they_are(tmp_path: Path) -> None:
    facts = call(load("describe_program"), run_of(tmp_path, PROGRAM)).model_dump()["facts"]
    told = {(row["topic"], row["place"]): row for row in facts}
    assert told["recurrent layer", "train.py:9"]["what"] == "GRU(4, 16, batch_first=True)"
    assert told["recurrent layer", "train.py:9"]["sure"] == "argument default"
    assert told["optimizer", "train.py:10"]["what"].startswith("Adam(")
    assert told["clipping", "train.py:20"]["what"] == "norm at 0.5"
    assert told["loop", "train.py:14"]["what"].endswith("trains")


def test_the_state_s_way_is_told_and_the_checklist_answered(tmp_path: Path) -> None:
    found = call(load("inspect_state_flow"), run_of(tmp_path, PROGRAM)).model_dump()
    (one,) = found["calls"]
    assert one["code"] == "rnn(series[:, t:t + 20], state)"
    assert [words.split(" from ")[0] for words in one["takes"]] == [
        "GRU: takes a new state",
        "GRU: takes `state`",
        "GRU: takes `state`",
    ]
    answers = found["checklist"]
    assert answers["the whole state is detached between backward and the next forward"] == "yes"
    assert answers["the state is reset where the data starts again"].startswith("no: train.py:")


def test_the_loops_of_a_state_are_drawn(tmp_path: Path) -> None:
    drawn = call(load("inspect_state_flow"), run_of(tmp_path, PROGRAM)).model_dump()["loops"].split("\n")
    rows = [(row.split("  train.py:")[0], row.split("  train.py:")[1]) for row in drawn]
    assert [place.split()[0] for _, place in rows] == ["13", "14", "15", "16", "18", "19", "21"]
    told = {place.split()[0]: " ".join(place.split()[1:]) for _, place in rows}
    assert told["13"] == told["14"] == "state kept, its graph cut"
    assert told["15"] == "takes and gives it"
    assert told["16"] == "cut here"
    assert [len(code) - len(code.lstrip()) for code, _ in rows] == [0, 2, 4, 4, 4, 4, 4]

    anew = PROGRAM.replace("    for t in", "    state = None\n    for t in").replace("state = state.detach()", "pass")
    first, second, *_ = call(load("inspect_state_flow"), run_of(tmp_path, anew)).model_dump()["loops"].split("\n")
    assert first.endswith("state: new each turn")
    assert second.endswith("state kept, with its graph")


@pytest.mark.parametrize("name", ["describe_program", "inspect_state_flow"])
def test_without_code_there_is_nothing_to_tell(name: str, tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("epoch 1 loss 2.0\n")
    with pytest.raises(NoData):
        call(load(name), Run(Scope.of(tmp_path)))
