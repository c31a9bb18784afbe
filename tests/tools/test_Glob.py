"""Glob lists what is inside the run folder, and only that."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from traindx.readers import Scope
from traindx.runtime import Toolbelt, ToolResult

FILES = (
    "train.log",
    "config.yaml",
    "config.json",
    ".hidden",
    "src/train.py",
    "src/models/net.py",
    "src/models/deep/er/net.py",
    "logs/rank0.log",
    "logs/rank1.log",
    ".git/config",
    "src/__pycache__/train.pyc",
    ".venv/lib/python3/site-packages/x.py",
)


@pytest.fixture(scope="module")
def toolbelt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toolbelt]:
    top = tmp_path_factory.mktemp("glob")
    (top / "outside").mkdir()
    (top / "outside" / "secret.log").write_text("secret")
    for name in FILES:
        path = top / "run" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (top / "run" / "latest.log").symlink_to("logs/rank1.log")
    (top / "run" / "out.log").symlink_to(top / "outside" / "secret.log")
    (top / "run" / "out").symlink_to(top / "outside")
    (top / "run" / "logs" / "again").symlink_to("..")
    (Path(os.fsdecode(os.fsencode(top / "run") + b"/\xff.log"))).write_text("no text for a name")
    with Toolbelt(Scope.of(top / "run")) as toolbelt:
        yield toolbelt


def glob(toolbelt: Toolbelt, pattern: str, **options: Any) -> ToolResult:
    return toolbelt.call("Glob", {"pattern": pattern, **options})


def paths(result: ToolResult) -> list[str]:
    return [file["path"] for file in result.output["files"]]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.log", ["latest.log", "logs/rank0.log", "logs/rank1.log", "train.log"]),
        ("./*.log", ["latest.log", "train.log"]),
        ("logs/*", ["logs/rank0.log", "logs/rank1.log"]),
        ("src/**/*.py", ["src/models/deep/er/net.py", "src/models/net.py", "src/train.py"]),
        ("**/net.py", ["src/models/deep/er/net.py", "src/models/net.py"]),
        ("src/**/er/*", ["src/models/deep/er/net.py"]),
        ("src/**", ["src/models/deep/er/net.py", "src/models/net.py", "src/train.py"]),
        ("config.{json,yaml}", ["config.json", "config.yaml"]),
        ("rank[01].log", ["logs/rank0.log", "logs/rank1.log"]),
        ("rank?.log", ["logs/rank0.log", "logs/rank1.log"]),
        (".hidden", [".hidden"]),
    ],
)
def test_patterns(toolbelt: Toolbelt, pattern: str, expected: list[str]) -> None:
    assert paths(glob(toolbelt, pattern)) == expected


def test_everything_is_what_a_person_would_look_at(toolbelt: Toolbelt) -> None:
    result = glob(toolbelt, "**/*")
    assert paths(result) == sorted([*FILES[:9], "latest.log"])
    assert result.output["total"] == 10
    assert result.output["left_out"] == [
        "not searched: `.git`, `.venv`, `src/__pycache__`",
        "3 link(s) point outside the run folder and were not followed",
        "1 file(s) have a name that is not valid UTF-8 and cannot be requested",
    ]


def test_a_list_that_was_cut_says_so(toolbelt: Toolbelt) -> None:
    result = glob(toolbelt, "*.py", max_results=1)
    assert len(paths(result)) == 1
    assert result.output["left_out"][0] == "2 more files match: narrow the pattern or raise `max_results`"


def test_no_match_says_how_much_was_searched(toolbelt: Toolbelt) -> None:
    result = glob(toolbelt, "*.ckpt")
    assert result.status == "no_data"
    assert result.reason.startswith("no file in the run folder matches `*.ckpt` (")


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("../*", "contains `..`; nothing outside the run folder can be seen"),
        ("src/../../*", "contains `..`"),
        ("/etc/*", "is absolute; give one relative to the run folder"),
        ("~/*", "is absolute"),
        (" ", "the pattern is empty"),
        ("{a,b}" * 8, "more than 64 alternatives"),
    ],
)
def test_a_refusal_says_why(toolbelt: Toolbelt, pattern: str, why: str) -> None:
    result = glob(toolbelt, pattern)
    assert result.status == "failed"
    assert why in result.reason


def test_a_pattern_full_of_stars_ends(toolbelt: Toolbelt) -> None:
    result = glob(toolbelt, "**/" + "*a" * 40 + "/**/" * 20 + "*b")
    assert result.status == "no_data"
