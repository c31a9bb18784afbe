"""The catalog's files: strict, complete, and in tune with the tools' vocabulary."""

from pathlib import Path

import pytest

from traindx.brains.local.user_reports import VOCABULARY
from traindx.diagnosis.catalog import FailureMode, check_signals, fix_for, issue_for, load_catalog, load_healthy
from traindx.errors import DefinitionError
from traindx.readers import Scope
from traindx.runtime import Toolbelt

CATALOG = load_catalog()
ENTRY = """\
---
id: {id}
title: something is wrong
specialist: ml-debugger
severity: high
prior: -3
signals:
  loss-diverged: 2
  lr-raised-at-onset: {{weight: 3, kind: direct}}
{extra}issue: ["It broke at {{{{ onset }}}}", "It broke"]
fix:
  summary: [Mend it]
  expected: [It holds]
  verify: [Look]
  fallback: [Look again]
asks: [What broke?]
---
## What it is
x
## How it shows
x
## How to tell it from its neighbours
x
## Fix
x
## Verify
x
## If that fails
x
"""


def entry(folder: Path, name: str, extra: str = "", text: str = ENTRY) -> Path:
    path = folder / f"{name}.md"
    path.write_text(text.format(id=name, extra=extra))
    return path


def test_there_is_a_first_dozen_for_all_three_specialists() -> None:
    assert len(CATALOG) >= 12
    assert {mode.specialist for mode in CATALOG.values()} == {"state-debugger", "training-monitor", "ml-debugger"}


def test_every_signal_is_emitted_by_some_tool_or_said_by_a_user(tmp_path: Path) -> None:
    with Toolbelt(Scope.of(tmp_path)) as toolbelt:
        vocabulary = {signal for spec in toolbelt.specs().values() for signal in spec.emits} | set(VOCABULARY)
    check_signals(list(CATALOG.values()), vocabulary)
    assert set(load_healthy().signals) <= vocabulary


def test_a_signal_nobody_emits_is_named_with_its_line(tmp_path: Path) -> None:
    path = entry(tmp_path, "odd-one")
    modes = load_catalog(tmp_path)
    with pytest.raises(DefinitionError, match=r"odd-one\.md:9: no tool emits .*Did you mean `lr-raised-at-the-onset`"):
        check_signals(list(modes.values()), {"loss-diverged", "lr-raised-at-the-onset"}, path.parent)


@pytest.mark.parametrize("mode", CATALOG.values(), ids=CATALOG)
def test_every_wording_stands_without_any_fact(mode: FailureMode) -> None:
    assert issue_for(mode, {})
    fix = fix_for(mode, {})
    assert all([fix.summary, fix.expected, fix.verify, fix.fallback])
    assert fix.diff is None


@pytest.mark.parametrize("mode", CATALOG.values(), ids=CATALOG)
def test_signals_can_carry_every_mode_over_the_bar(mode: FailureMode) -> None:
    best = mode.prior + sum(row.weight for row in mode.signals.values() if row.weight > 0)
    assert best > 0, "a mode that no evidence can establish is a stub"
    assert mode.prior < 0, "a mode must not be believed before any evidence"


def test_the_first_wording_whose_facts_are_known_is_used(tmp_path: Path) -> None:
    entry(tmp_path, "one")
    mode = load_catalog(tmp_path)["one"]
    assert issue_for(mode, {"onset": "epoch 7"}) == "It broke at epoch 7."
    assert issue_for(mode, {"other": 1}) == "It broke."


def test_an_unknown_key_names_file_line_and_spelling(tmp_path: Path) -> None:
    entry(tmp_path, "one", extra="leeds_to: [one]\n")
    with pytest.raises(DefinitionError, match=r"one\.md:10: unknown key `leeds_to`. Did you mean `leads_to`\?"):
        load_catalog(tmp_path)


def test_a_follower_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    entry(tmp_path, "one", extra="leads_to: [twoo]\n")
    entry(tmp_path, "two")
    with pytest.raises(DefinitionError, match="Did you mean `two`"):
        load_catalog(tmp_path)


def test_a_circle_of_followers_is_an_error(tmp_path: Path) -> None:
    entry(tmp_path, "one", extra="leads_to: [two]\n")
    entry(tmp_path, "two", extra="leads_to: [one]\n")
    with pytest.raises(DefinitionError, match="is circular"):
        load_catalog(tmp_path)


def test_a_wrong_heading_is_named(tmp_path: Path) -> None:
    entry(tmp_path, "one", text=ENTRY.replace("## Verify", "## Check"))
    with pytest.raises(DefinitionError, match=r"one\.md:\d+: has the heading `Check`"):
        load_catalog(tmp_path)


def test_broken_yaml_is_an_error_with_its_line(tmp_path: Path) -> None:
    entry(tmp_path, "one", text=ENTRY.replace("severity: high", "severity: [high"))
    with pytest.raises(DefinitionError, match=r"one\.md:\d+: not valid YAML"):
        load_catalog(tmp_path)
