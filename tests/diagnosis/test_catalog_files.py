"""The catalog's files: strict, complete, and in tune with the tools' vocabulary."""

from pathlib import Path

import pytest

from traindx.brains.local.user_reports import VOCABULARY
from traindx.contract import SignalKind
from traindx.diagnosis.catalog import FailureMode, load_catalog, read_folder
from traindx.diagnosis.compiled import compiled_text, read_compiled
from traindx.diagnosis.signals import SignalRegistry
from traindx.diagnosis.weights import load_weights
from traindx.diagnosis.wording import fix_for, issue_for
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
for:
  loss-diverged: weak
  lr-raised-at-onset: decisive, direct
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
        registry = SignalRegistry.of(toolbelt.specs(schemas=False), VOCABULARY)
    registry.check(CATALOG.values())
    assert {name for name, _, _ in CATALOG.healthy.weighed()} <= set(registry.kinds)


def test_a_harm_nobody_sees_is_named_with_its_line(tmp_path: Path) -> None:
    entry(tmp_path, "one", extra="shows_as: [loss-at-chanse]\n")
    registry = SignalRegistry(dict.fromkeys(["loss-diverged", "lr-raised-at-onset", "loss-at-chance"], SignalKind("x")))
    with pytest.raises(DefinitionError, match=r"one\.md:9: no tool emits .*Did you mean `loss-at-chance`"):
        registry.check(read_folder(tmp_path).values())


def test_a_harm_stands_for_its_signals(tmp_path: Path) -> None:
    entry(tmp_path, "one", extra="shows_as: [lr-raised-at-onset, learning-harmed]\n")
    shows = read_folder(tmp_path)["one"].shows_as
    assert shows[0] == "lr-raised-at-onset"
    assert {"loss-at-chance", "accuracy-frozen"} < set(shows)
    assert "learning-harmed" not in shows


def test_a_signal_nobody_emits_is_named_with_its_line(tmp_path: Path) -> None:
    entry(tmp_path, "odd-one")
    registry = SignalRegistry({"loss-diverged": SignalKind("x"), "lr-raised-at-the-onset": SignalKind("x")})
    with pytest.raises(DefinitionError, match=r"odd-one\.md:8: no tool emits .*Did you mean `lr-raised-at-the-onset`"):
        registry.check(read_folder(tmp_path).values())


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("strng", r"`strng` is no tier. Did you mean `strong`\?"),
        ("strong, directly", "`directly` is no kind of evidence"),
    ],
)
def test_a_wrong_tier_is_named_with_its_line(tmp_path: Path, wrong: str, said: str) -> None:
    entry(tmp_path, "one", text=ENTRY.replace("loss-diverged: weak", f"loss-diverged: {wrong}"))
    with pytest.raises(DefinitionError, match=rf"one\.md:\d+: .*{said}"):
        read_folder(tmp_path)


def test_the_compiled_catalog_is_what_the_files_say(tmp_path: Path) -> None:
    entry(tmp_path, "one")
    compiled = tmp_path / "compiled.json"
    compiled.write_text(compiled_text(tmp_path))
    assert read_compiled(tmp_path, compiled) == read_folder(tmp_path)
    entry(tmp_path, "one", extra="leads_to: []\n")
    assert read_compiled(tmp_path, compiled) is None, "a file was changed: what was compiled before is stale"
    compiled.write_text("{")
    assert read_compiled(tmp_path, compiled) is None


@pytest.mark.parametrize("mode", CATALOG.values(), ids=CATALOG)
def test_every_wording_stands_without_any_fact(mode: FailureMode) -> None:
    assert issue_for(mode, {})
    fix = fix_for(mode, {})
    assert all([fix.summary, fix.expected, fix.verify, fix.fallback])
    assert fix.diff is None


@pytest.mark.parametrize("mode", CATALOG.values(), ids=CATALOG)
def test_signals_can_carry_every_mode_over_the_bar(mode: FailureMode) -> None:
    weights = load_weights()
    best = sum(weights.of(mode, name, speaks, 1) for name, speaks in mode.speaks_for.items())
    assert weights.prior_of(mode) + best > 0, "a mode that no evidence can establish is a stub"
    assert weights.prior_of(mode) < 0, "a mode must not be believed before any evidence"


def test_the_first_wording_whose_facts_are_known_is_used(tmp_path: Path) -> None:
    entry(tmp_path, "one")
    mode = read_folder(tmp_path)["one"]
    assert issue_for(mode, {"onset": "epoch 7"}) == "It broke at epoch 7."
    assert issue_for(mode, {"other": 1}) == "It broke."


def test_an_unknown_key_names_file_line_and_spelling(tmp_path: Path) -> None:
    entry(tmp_path, "one", extra="leeds_to: [one]\n")
    with pytest.raises(DefinitionError, match=r"one\.md:9: unknown key `leeds_to`. Did you mean `leads_to`\?"):
        read_folder(tmp_path)


def test_a_follower_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    entry(tmp_path, "one", extra="leads_to: [twoo]\n")
    entry(tmp_path, "two")
    with pytest.raises(DefinitionError, match="Did you mean `two`"):
        load_catalog([tmp_path])


def test_a_circle_of_followers_is_an_error(tmp_path: Path) -> None:
    entry(tmp_path, "one", extra="leads_to: [two]\n")
    entry(tmp_path, "two", extra="leads_to: [one]\n")
    with pytest.raises(DefinitionError, match="is circular"):
        load_catalog([tmp_path])


def test_a_wrong_heading_is_named(tmp_path: Path) -> None:
    entry(tmp_path, "one", text=ENTRY.replace("## Verify", "## Check"))
    with pytest.raises(DefinitionError, match=r"one\.md:\d+: has the heading `Check`"):
        read_folder(tmp_path)


def test_broken_yaml_is_an_error_with_its_line(tmp_path: Path) -> None:
    entry(tmp_path, "one", text=ENTRY.replace("severity: high", "severity: [high"))
    with pytest.raises(DefinitionError, match=r"one\.md:\d+: not valid YAML"):
        read_folder(tmp_path)


def test_the_generalist_says_how_to_prevent_what_it_finds() -> None:
    pages = [mode for mode in load_catalog().values() if mode.specialist == "ml-debugger"]
    assert [mode.id for mode in pages if not mode.fix.prevention] == []
