"""What `review_training_loop` says about the programs beside the rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.program.samples import PRELUDE, Sample, samples
from tests.tools.signal_case import Case, case, check
from traindx.program.rules import rules

TOOL = "review_training_loop"
SAYS = {rule.id: rule.says for rule in rules()}


def _case(row: Sample) -> Case:
    said = {"Buggy": "proven", "Suspicious": "suspected"}.get(row.kind)
    fires = {f"{said}-{row.rule}"} if said else set()
    silent = {f"{how}-{row.rule}" for how in SAYS[row.rule]} - fires
    return case(TOOL, row.label, {"train.py": PRELUDE + row.code}, " ".join(fires), " ".join(silent))


REPLACED = """
cfg = json.load(open("hparams.json"))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.head = nn.Linear(16, 1000)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


net = Net()
opt = torch.optim.Adam(net.parameters())
if cfg["num_classes"] != 1000:
    net.head = nn.Linear(16, cfg["num_classes"])
for x, y in loader:
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
LACKS = "proven-optimizer-missing-parameters"


@pytest.mark.parametrize(("classes", "told"), [(3, True), (1000, False)])
def test_the_configuration_decides_which_side_of_a_condition_ran(tmp_path: Path, classes: int, told: bool) -> None:
    files = {"train.py": f"import json\n{PRELUDE}{REPLACED}", "hparams.json": f'{{"num_classes": {classes}}}'}
    check(case(TOOL, "a head replaced", files, LACKS if told else "", "" if told else LACKS), tmp_path)


PROGRAMS = [_case(row) for row in samples()]


@pytest.mark.parametrize("one", PROGRAMS, ids=lambda one: one.label)
def test_a_signal_fires_where_it_must_and_only_there(one: Case, tmp_path: Path) -> None:
    check(one, tmp_path)
