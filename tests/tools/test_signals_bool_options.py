"""Options with `type=bool` that a command switches off."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.signal_case import Case, case, check

SIGNAL = "option-true-whatever-is-given"
PROGRAM = """\
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--freeze-body", {how}, help="keep the body as it is")
parser.add_argument("--lr", type=float, default=1e-3)
args = parser.parse_args()
body, top = nn.Linear(4, 8), nn.Linear(8, 2)
if args.freeze_body:
    body.requires_grad_(False)
"""


def started(label: str, fires: bool, how: str, command: str) -> Case:
    files = {"train.py": PROGRAM.format(how=how), "run.sh": f"#!/bin/bash\n{command}\n"}
    return case("check_code_rules", label, files, SIGNAL if fires else "", "" if fires else SIGNAL)


OFF = "python train.py --lr 1e-3 --freeze-body False"
CASES = [
    started("switched off by a word", True, "type=bool, default=True", OFF),
    started("switched off by a number", True, "default=False, type=bool", OFF.replace("False", "0")),
    started("switched on", False, "type=bool, default=False", OFF.replace("False", "True")),
    started("left at its default", False, "type=bool, default=False", "python train.py --lr 1e-3"),
    started("read by a function of its own", False, "type=str_to_bool, default=False", OFF),
    started("a number", False, "type=int, default=0", OFF.replace("False", "0")),
]


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.label)
def test_it_fires_where_the_command_says_no(one: Case, tmp_path: Path) -> None:
    check(one, tmp_path)
