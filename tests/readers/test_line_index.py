"""Lines of a large file are the lines an editor shows, however deep they lie."""

from pathlib import Path

import pytest

from traindx.readers import Run, Scope
from traindx.readers.logs.lines import LARGE


@pytest.mark.parametrize("filler", ["x" * 60, "é" * 30, "progress\r" * 6])
@pytest.mark.slow
def test_deep_lines_are_found_exactly(tmp_path: Path, filler: str) -> None:
    count = 2 * LARGE // len(filler)
    with (tmp_path / "train.log").open("w", newline="") as file:
        file.writelines(f"line {number} {filler}\n" for number in range(1, count + 1))
    run = Run(Scope.of(tmp_path))
    for number in (1, 2, count // 3, count // 2, count - 1, count):
        assert run.lines("train.log", number, number)[0].split(" ")[1] == str(number)
    assert [text.split(" ")[1] for text in run.lines("train.log", count - 2, count + 5)][:3] == [
        str(count - 2),
        str(count - 1),
        str(count),
    ]


def test_a_line_past_the_end_is_no_line(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("a\n" * (LARGE // 2 + 10))
    run = Run(Scope.of(tmp_path))
    assert run.lines("train.log", LARGE, LARGE) == []


def test_utf_16_is_read_from_its_start(tmp_path: Path) -> None:
    text = "\n".join(f"line {number} {'x' * 60}" for number in range(1, 80_001))
    (tmp_path / "train.log").write_bytes(text.encode("utf-16"))
    assert Run(Scope.of(tmp_path)).lines("train.log", 70_000, 70_000)[0].startswith("line 70000 ")
