"""Grep finds lines, tells what it did not search, and cannot be hung by a pattern."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from traindx.readers import Scope
from traindx.runtime import Toolbelt, ToolResult


@pytest.fixture(scope="module")
def toolbelt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toolbelt]:
    top = tmp_path_factory.mktemp("grep")
    run = top / "run"
    (run / "logs").mkdir(parents=True)
    (top / "secret.log").write_text("loss nan in the secret\n")
    (run / "train.log").write_text("".join(f"step {step} loss {1 / step:.3f}\n" for step in range(1, 500)))
    (run / "logs" / "rank1.log").write_text("start\nLoss is NaN\nValueError: bad\nend\n")
    (run / "bar.log").write_text("\r".join(f"{step}%|##| ok" for step in range(60_000)) + "\rRuntimeError: late\nend\n")
    (run / "wide.log").write_text("head-mark " + "x" * 100_000 + "middle-mark" + "x" * 100_000 + " tail-mark\n")
    (run / "big.log").write_text("a line of the usual length, nothing to see\n" * 150_000 + "needle 1\nafter it\n")
    (run / "slow.txt").write_text("a" * 5000 + "b\n")
    (run / "model.pt").write_bytes(b"PK\x03\x04loss" + bytes(50))
    (run / "out.log").symlink_to(top / "secret.log")
    os.mkfifo(run / "fifo")
    with Toolbelt(Scope.of(run)) as toolbelt:
        yield toolbelt


def grep(toolbelt: Toolbelt, pattern: str, **options: Any) -> ToolResult:
    return toolbelt.call("Grep", {"pattern": pattern, **options})


def places(result: ToolResult) -> list[str]:
    return [f"{match['path']}:{match['line']}: {match['text']}" for match in result.output["matches"]]


def test_matches_come_with_file_and_line(toolbelt: Toolbelt) -> None:
    result = grep(toolbelt, r"loss 0\.00[5-9]$", max_matches=1)
    assert places(result) == ["train.log:106: step 106 loss 0.009"]
    assert "stopped after 1 matches" in result.output["left_out"][0]


def test_case_and_files_can_be_chosen(toolbelt: Toolbelt) -> None:
    assert places(grep(toolbelt, "loss is nan", ignore_case=True)) == ["logs/rank1.log:2: Loss is NaN"]
    assert places(grep(toolbelt, "loss", ignore_case=True, path="logs")) == ["logs/rank1.log:2: Loss is NaN"]
    assert grep(toolbelt, "Loss", glob="*.txt").status == "no_data"


def test_context_is_shown_across_the_pieces_a_file_is_read_in(toolbelt: Toolbelt) -> None:
    match = grep(toolbelt, "Error: bad", context=1).output["matches"][0]
    assert (match["before"], match["after"]) == (["Loss is NaN"], ["end"])
    match = grep(toolbelt, "needle [0-9]", context=1, path="big.log").output["matches"][0]
    assert (match["line"], match["before"], match["after"]) == (
        150_001,
        ["a line of the usual length, nothing to see"],
        ["after it"],
    )


def test_a_plain_word_is_found_in_a_big_file(toolbelt: Toolbelt) -> None:
    assert places(grep(toolbelt, "needle|haystack")) == ["big.log:150001: needle 1"]


def test_a_progress_bar_is_searched_piece_by_piece(toolbelt: Toolbelt) -> None:
    assert places(grep(toolbelt, "^RuntimeError: .*$")) == ["bar.log:1: RuntimeError: late"]


def test_a_very_long_line_is_searched_at_its_ends(toolbelt: Toolbelt) -> None:
    for mark in ("head-mark", "tail-mark"):
        result = grep(toolbelt, mark + r"\b")
        assert [match["line"] for match in result.output["matches"]] == [1]
        assert len(result.output["matches"][0]["text"]) < 400
    missed = grep(toolbelt, r"middle-mark\b")
    assert missed.status == "no_data"
    assert "line(s) longer than 8192 characters were searched at both ends only" in missed.reason


def test_nothing_found_says_what_was_searched(toolbelt: Toolbelt) -> None:
    result = grep(toolbelt, "no such text")
    assert result.status == "no_data"
    assert result.reason.startswith("nothing in the run folder matches `no such text` (6 files searched; ")
    assert "1 binary file(s) skipped" in result.reason
    assert "1 link(s) point outside" in result.reason


def test_a_secret_behind_a_link_is_not_searched(toolbelt: Toolbelt) -> None:
    assert grep(toolbelt, "in the secret").status == "no_data"
    assert "it points outside the run folder" in grep(toolbelt, "x", path="out.log").reason
    assert "`..` is not allowed" in grep(toolbelt, "x", path="..").reason


@pytest.mark.parametrize("pattern", ["(", "[a", "*", "(?P<x", "a{2,1}"])
def test_what_is_no_regular_expression_is_refused(toolbelt: Toolbelt, pattern: str) -> None:
    result = grep(toolbelt, pattern)
    assert result.status == "failed"
    assert result.reason.startswith(f"`{pattern}` is not a regular expression: ")


@pytest.mark.slow
def test_a_catastrophic_pattern_is_stopped_and_named(toolbelt: Toolbelt) -> None:
    assert "gave no answer within 0.5 s (asked with path='slow.txt', pattern='(a+)+$')" in str(
        toolbelt.call("Grep", {"pattern": "(a+)+$", "path": "slow.txt"}, timeout=0.5).reason
    )
    result = grep(toolbelt, "(a+)+$", path="slow.txt", max_seconds=0.5)
    assert result.status == "failed"
    assert result.reason.startswith("the search for `(a+)+$` was stopped in `slow.txt` after 0.5 s with nothing found")
    assert grep(toolbelt, "Error: bad").status == "ok"
