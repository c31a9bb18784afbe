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


PROGRAMS = [_case(row) for row in samples()]


@pytest.mark.parametrize("one", PROGRAMS, ids=lambda one: one.label)
def test_a_signal_fires_where_it_must_and_only_there(one: Case, tmp_path: Path) -> None:
    check(one, tmp_path)
