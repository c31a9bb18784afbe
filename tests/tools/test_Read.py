"""Read shows what stands in a file, says what it left out, and never takes more memory than its window."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from traindx.readers import Scope
from traindx.runtime import Toolbelt, ToolResult


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("read")
    (folder / "train.log").write_text("".join(f"line {number}\n" for number in range(1, 1001)))
    (folder / "windows.log").write_bytes(b"one\r\ntwo\r\nthree")
    (folder / "utf16.log").write_bytes("erste Zeile\nzweite ü\n".encode("utf-16"))
    (folder / "latin.log").write_bytes(b"caf\xe9\n")
    (folder / "bar.log").write_text("\r".join(f"{step}%|####| loss 1.0" for step in range(50_000)) + "\nCUDA error\n")
    (folder / "wide.log").write_bytes(b"start " + b"x" * 3_000_000 + b" end\nnext\n")
    (folder / "empty.log").write_bytes(b"")
    (folder / "model.pt").write_bytes(b"PK\x03\x04" + bytes(100))
    (folder / "array.npy").write_bytes(b"\x93NUMPY" + bytes(100))
    (folder / "raw.bin").write_bytes(bytes(range(256)))
    (folder / "sub").mkdir()
    os.mkfifo(folder / "fifo")
    return folder


@pytest.fixture(scope="module")
def toolbelt(folder: Path) -> Iterator[Toolbelt]:
    with Toolbelt(Scope.of(folder), memory_mb=300) as toolbelt:
        yield toolbelt


def read(toolbelt: Toolbelt, path: str, **options: Any) -> ToolResult:
    return toolbelt.call("Read", {"path": path, **options})


def test_lines_are_numbered_and_the_rest_is_announced(toolbelt: Toolbelt) -> None:
    output = read(toolbelt, "train.log", start_line=10, max_lines=3).output
    assert output["text"] == "10\tline 10\n11\tline 11\n12\tline 12"
    assert (output["first_line"], output["last_line"]) == (10, 12)
    assert output["left_out"] == [
        "lines 1 to 9: ask with an earlier `start_line`",
        "the lines after 12: ask with `start_line=13`, or `tail`",
    ]


def test_a_whole_file_leaves_nothing_out(toolbelt: Toolbelt) -> None:
    output = read(toolbelt, "windows.log").output
    assert (output["text"], output["left_out"]) == ("1\tone\n2\ttwo\n3\tthree", [])


def test_the_end_has_the_numbers_it_has_in_the_file(toolbelt: Toolbelt) -> None:
    output = read(toolbelt, "train.log", tail=True, max_lines=2).output
    assert output["text"] == "999\tline 999\n1000\tline 1000"
    assert output["left_out"] == ["lines 1 to 998: ask with an earlier `start_line`"]


@pytest.mark.parametrize(
    ("path", "text"),
    [("utf16.log", "1\terste Zeile\n2\tzweite ü"), ("latin.log", "1\tcaf\N{REPLACEMENT CHARACTER}")],
)
def test_encodings(toolbelt: Toolbelt, path: str, text: str) -> None:
    assert read(toolbelt, path).output["text"] == text
    assert read(toolbelt, path, tail=True).output["text"] == text


@pytest.mark.parametrize("tail", [False, True])
@pytest.mark.parametrize(
    ("path", "ends"), [("bar.log", ("1\t0%|", "2\tCUDA error")), ("wide.log", (" end", "2\tnext"))]
)
def test_long_lines_are_cut_in_the_middle(toolbelt: Toolbelt, path: str, ends: tuple[str, str], tail: bool) -> None:
    output = read(toolbelt, path, tail=tail).output
    assert all(end in output["text"] for end in ends)
    assert "characters left out…]" in output["text"]
    assert len(output["text"]) < 2000
    assert any("Grep finds text inside them" in remark for remark in output["left_out"])


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("model.pt", "not text but a zip archive, as PyTorch checkpoints and .npz files are"),
        ("array.npy", "not text but a NumPy array"),
        ("raw.bin", "not text but a binary file"),
        ("sub", "it is a folder"),
        ("fifo", "not a regular file"),
        ("../read", "`..` is not allowed"),
        ("/etc/passwd", "give a path relative to the run folder"),
        ("trian.log", "did you mean `train.log`?"),
    ],
)
def test_a_refusal_says_what_is_there(toolbelt: Toolbelt, path: str, why: str) -> None:
    result = read(toolbelt, path)
    assert result.status == "failed"
    assert why in result.reason


def test_a_line_after_the_end_is_refused_with_the_length(toolbelt: Toolbelt) -> None:
    assert read(toolbelt, "train.log", start_line=5000).reason == "`train.log` has 1000 lines; there is no line 5000"
    assert read(toolbelt, "windows.log", start_line=4).reason == "`windows.log` has 3 lines; there is no line 4"


def test_an_empty_file_is_no_data(toolbelt: Toolbelt) -> None:
    result = read(toolbelt, "empty.log")
    assert (result.status, result.reason) == ("no_data", "`empty.log` is empty")


@pytest.mark.slow
def test_a_file_of_gigabytes_is_read_at_both_ends(folder: Path, toolbelt: Toolbelt) -> None:
    """A sparse file: as long as a real one for every reader, and nothing on the disk."""
    huge = folder / "huge.log"
    with huge.open("wb") as handle:
        handle.write(b"begin\n" + b"filler\n" * 5000)
        handle.seek(6 * 2**30)
        handle.write(b"\nlast but one\nthe last line\n")
    assert read(toolbelt, "huge.log", max_lines=1).output["text"] == "1\tbegin"
    end = read(toolbelt, "huge.log", tail=True, max_lines=2).output
    assert end["text"] == "-2\tlast but one\n-1\tthe last line"
    assert "counted from the end" in end["left_out"][0]
    deep = read(toolbelt, "huge.log", start_line=90_000)
    assert deep.reason.startswith("line 90000 of `huge.log` is more than 256 MB into the file; use `tail`, or Grep")
    huge.unlink()


def test_one_call_takes_several_places(toolbelt: Toolbelt) -> None:
    output = read(toolbelt, "windows.log", also=["train.log:40-42", "train.log:-2", "latin.log"]).output
    assert output["text"] == "1\tone\n2\ttwo\n3\tthree"
    assert [row["text"] for row in output["also"]] == [
        "40\tline 40\n41\tline 41\n42\tline 42",
        "999\tline 999\n1000\tline 1000",
        "1\tcaf\N{REPLACEMENT CHARACTER}",
    ]


def test_a_place_that_cannot_be_read_does_not_spoil_the_others(toolbelt: Toolbelt) -> None:
    output = read(toolbelt, "windows.log", also=["gone.log", "/etc/passwd", "model.pt", "train.log:7"]).output
    *refused, last = output["also"]
    assert all(row["reason"] and not row["text"] for row in refused)
    assert last["text"].startswith("7\tline 7")
