"""The change that goes with a finding leaves a program that parses and no longer has the fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.program.samples import Sample, followed, samples
from traindx.diagnosis.catalog import load_catalog
from traindx.diagnosis.changes.rewritings import Unfit, rewrite
from traindx.program.analysis import analyse
from traindx.program.rules import review
from traindx.readers import Run, Scope

CATALOG = load_catalog()
BUGGY = [row for row in samples() if row.kind == "Buggy" and any(change.code for change in CATALOG[row.rule].change)]


@pytest.mark.parametrize("sample", BUGGY, ids=lambda row: row.label)
def test_the_fault_is_gone(sample: Sample, tmp_path: Path) -> None:
    analysis = followed(sample.code, tmp_path)
    finding = next(row for row in review(analysis) if row.rule == sample.rule)
    code = next(change.code for change in CATALOG[sample.rule].change if change.code)
    try:
        made = rewrite(code, analysis.units, dict(finding.facts))
    except Unfit:
        pytest.skip("written in a way that no rewriting fits; the report says why")
    lines = made.unit.text.split("\n")
    rows = [row for number, line in enumerate(lines, 1) for row in made.lines.get(number, [line])]
    (tmp_path / made.unit.path).write_text("\n".join(rows), encoding="utf-8")
    mended = review(analyse(Run(Scope.of(tmp_path)).program))
    assert [row.claim for row in mended if row.rule == sample.rule and row.proven] == []
