"""Nothing outside the scope can be opened, whatever it is called, and every refusal says why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from traindx.errors import UnreadableInput
from traindx.readers import Scope


@pytest.fixture
def scope(tmp_path: Path) -> Scope:
    run = tmp_path / "run"
    (run / "logs").mkdir(parents=True)
    (run / "train.log").write_text("inside")
    (run / "logs" / "rank0.log").write_text("deeper")
    (tmp_path / "secret.txt").write_text("outside")
    (tmp_path / "run2").mkdir()
    (tmp_path / "run2" / "x.log").write_text("a neighbour")
    (run / "inside.lnk").symlink_to("logs/rank0.log")
    (run / "outside.lnk").symlink_to(tmp_path / "secret.txt")
    (run / "folder.lnk").symlink_to(tmp_path)
    (run / "loop.lnk").symlink_to("loop.lnk")
    (run / "dangling.lnk").symlink_to("nowhere")
    (run / "device.lnk").symlink_to("/dev/zero")
    os.mkfifo(run / "fifo")
    return Scope.of(run)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("train.log", b"inside"),
        ("./logs//rank0.log", b"deeper"),
        ("inside.lnk", b"deeper"),
    ],
)
def test_what_is_inside_can_be_read(scope: Scope, name: str, text: bytes) -> None:
    with scope.open(name) as handle:
        assert handle.read() == text


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../secret.txt", "`..` is not allowed in a path"),
        ("logs/../../secret.txt", "`..` is not allowed in a path"),
        ("logs/../train.log", "`..` is not allowed in a path"),
        ("/etc/passwd", "give a path relative to the run folder"),
        ("~/.ssh/id_rsa", "give a path relative to the run folder"),
        ("outside.lnk", "it points outside the run folder"),
        ("folder.lnk/secret.txt", "it points outside the run folder"),
        ("folder.lnk/run2/x.log", "it points outside the run folder"),
        ("device.lnk", "it points outside the run folder"),
        ("loop.lnk", "symbolic links"),
        ("dangling.lnk", "no such file in the run folder"),
        ("nothing.txt", "no such file in the run folder"),
        ("trian.log", "no such file in the run folder; did you mean `train.log`?"),
        ("logs/rank1.log", "did you mean `logs/rank0.log`?"),
        ("train.log/x", "not a directory"),
        ("fifo", "not a regular file"),
        ("logs", "it is a folder"),
        (".", "it is a folder"),
        ("", "it is a folder"),
        ("a\0b", "not a possible file name"),
        ("\ud800", "not a possible file name"),
        ("x" * 5000, "file name too long"),
    ],
)
def test_what_is_not_is_refused_with_the_reason(scope: Scope, name: str, why: str) -> None:
    with pytest.raises(UnreadableInput) as refused:
        scope.open(name)
    assert why in str(refused.value)
    str(refused.value).encode()


def test_an_absolute_path_inside_is_answered_with_the_relative_one(scope: Scope) -> None:
    with pytest.raises(UnreadableInput, match=r"relative to the run folder: `logs/rank0.log`"):
        scope.open(str(scope.root / "logs" / "rank0.log"))


def test_a_folder_swapped_for_a_link_is_not_followed(scope: Scope, tmp_path: Path) -> None:
    """Between looking and opening, `logs` becomes a link to the neighbour; the resolved path is stale by then."""
    resolved = scope.resolve("logs/rank0.log")
    (scope.root / "logs").rename(scope.root / "logs.old")
    (scope.root / "logs").symlink_to(tmp_path / "run2")
    (tmp_path / "run2" / "rank0.log").write_text("a neighbour")
    with pytest.raises(OSError, match="Not a directory"):
        scope._descend(resolved)


def test_a_single_file_is_a_scope_of_its_own(scope: Scope) -> None:
    alone = Scope.of(scope.root / "train.log")
    with alone.open("train.log") as handle:
        assert handle.read() == b"inside"
    with pytest.raises(UnreadableInput, match=r"only `train.log` was given"):
        alone.open("logs/rank0.log")


@pytest.mark.parametrize(
    ("name", "why"), [("nowhere", "no such file or folder"), ("fifo", "neither a file nor a folder"), ("a\0b", "name")]
)
def test_a_scope_needs_a_file_or_a_folder(scope: Scope, name: str, why: str) -> None:
    with pytest.raises(UnreadableInput, match=why):
        Scope.of(f"{scope.root}/{name}")


def test_a_link_to_a_run_is_the_run(scope: Scope, tmp_path: Path) -> None:
    (tmp_path / "latest").symlink_to(scope.root)
    assert Scope.of(tmp_path / "latest") == scope


def test_a_stand_in_is_read_in_the_place_of_a_file_and_nothing_else_is(tmp_path: Path) -> None:
    run, aside = tmp_path / "run", tmp_path / "aside"
    run.mkdir()
    (run / "train.log").write_text("long\n" * 100)
    (run / "other.log").write_text("other\n")
    aside.write_text("short\n")
    scope = Scope(run, stand_ins=((str(run / "train.log"), str(aside)),))
    with scope.open("train.log") as handle:
        assert handle.read() == b"short\n"
    with scope.open("other.log") as handle:
        assert handle.read() == b"other\n"
    assert (scope.size("train.log"), scope.size("other.log")) == (6, 6)
    with pytest.raises(UnreadableInput):
        scope.open("../aside")
