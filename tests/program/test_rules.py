"""Every rule finds what it is for, leaves correct programs alone, and says so under fixed headings."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.program.samples import Sample, found, samples
from traindx.program.rules import Rule, rules

SAMPLES = list(samples())
HEADINGS = ["## What it finds", "## Why it matters", "## Silent"]


@pytest.mark.parametrize("sample", [row for row in SAMPLES if row.kind == "Buggy"], ids=lambda row: row.label)
def test_a_buggy_program_is_found(sample: Sample, tmp_path: Path) -> None:
    told = found(sample.code, tmp_path)
    mine = [row for row in told if row.rule == sample.rule]
    assert any(row.proven for row in mine), f"found instead: {[(row.rule, row.claim) for row in told]}"
    assert [row.rule for row in told if row.proven and row.rule != sample.rule] == []


@pytest.mark.parametrize("sample", [row for row in SAMPLES if row.kind == "Correct"], ids=lambda row: row.label)
def test_a_correct_program_is_left_alone(sample: Sample, tmp_path: Path) -> None:
    assert [
        (row.rule, row.claim) for row in found(sample.code, tmp_path) if row.proven or row.rule == sample.rule
    ] == []


@pytest.mark.parametrize("sample", [row for row in SAMPLES if row.kind == "Suspicious"], ids=lambda row: row.label)
def test_a_suspicious_program_is_no_more_than_that(sample: Sample, tmp_path: Path) -> None:
    told = [row for row in found(sample.code, tmp_path) if row.rule == sample.rule]
    assert told
    assert not any(row.proven for row in told)


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_a_rule_documents_itself(rule: Rule) -> None:
    said = ast.get_docstring(ast.parse(rule.path.read_text(encoding="utf-8"))) or ""
    assert [line for line in said.split("\n") if line.startswith("## ")] == HEADINGS
    assert rule.path.stem.replace("_", "-") == rule.id
    kinds = {"proven": "Buggy", "suspected": "Suspicious"}
    assert {row.kind for row in SAMPLES if row.rule == rule.id} == {"Correct", *(kinds[word] for word in rule.says)}


def test_places_are_lines_of_the_program(tmp_path: Path) -> None:
    for sample in SAMPLES:
        for row in found(sample.code, tmp_path):
            assert row.place.quote, (sample.label, row.place.text)
