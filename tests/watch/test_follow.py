"""What is new in a file is seen once, whatever happens to the file."""

import gzip
from pathlib import Path

import pytest

from traindx.watch.follow import PIECE, Follower


def lines_of(follower: Follower) -> list[tuple[int, str]]:
    found = []
    for piece in follower.news():
        if piece is None:
            found.append((0, "anew"))
        else:
            found += list(enumerate(piece.data.decode().splitlines(), piece.first))
    return found


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "train.log"


def add(log: Path, text: str) -> None:
    with log.open("a") as handle:
        handle.write(text)


def test_every_line_is_given_once_with_its_number_when_it_has_ended(log: Path) -> None:
    follower = Follower(str(log))
    add(log, "one\ntwo\nthr")
    assert lines_of(follower) == [(0, "anew"), (1, "one"), (2, "two")]
    assert lines_of(follower) == []
    add(log, "ee\n\nfive")
    assert lines_of(follower) == [(3, "three"), (4, "")]
    rest = follower.rest()
    assert rest is not None
    assert (rest.first, rest.data) == (5, b"five\n")
    assert follower.rest() is None


def test_a_rotated_file_begins_anew(log: Path) -> None:
    follower = Follower(str(log))
    add(log, "one\ntwo\n")
    lines_of(follower)
    log.rename(log.with_suffix(".log.1"))
    add(log, "first of the next\n")
    assert lines_of(follower) == [(0, "anew"), (1, "first of the next")]


@pytest.mark.parametrize("text", ["new\n", "new, and longer than all that was there before\n"])
def test_an_emptied_file_begins_anew_also_when_it_is_longer_by_now(log: Path, text: str) -> None:
    follower = Follower(str(log))
    add(log, "one\ntwo\n")
    lines_of(follower)
    with log.open("r+") as handle:
        handle.truncate(0)
        handle.write(text)
    assert lines_of(follower) == [(0, "anew"), (1, text.strip())]


def test_a_file_that_goes_away_and_comes_back_is_followed_again(log: Path) -> None:
    follower = Follower(str(log))
    add(log, "one\n")
    lines_of(follower)
    log.unlink()
    with pytest.raises(FileNotFoundError):
        lines_of(follower)
    add(log, "back\n")
    assert lines_of(follower)[-1] == (1, "back")


def test_a_line_that_never_ends_takes_no_memory(log: Path) -> None:
    follower = Follower(str(log))
    with log.open("wb") as handle:
        for _ in range(8):
            handle.write(b"x" * PIECE)
    assert lines_of(follower) == [(0, "anew")]
    rest = follower.rest()
    assert rest is not None
    assert len(rest.data) < PIECE


def test_of_a_long_file_that_is_there_already_the_middle_is_only_counted(log: Path) -> None:
    count = 6 * PIECE // 8
    log.write_text("".join(f"{number:7d}\n" for number in range(1, count + 1)))
    found = lines_of(Follower(str(log), whole=2 * PIECE))[1:]
    assert len(found) < count
    assert (found[0], found[-1][0]) == ((1, "      1"), count)
    assert all(int(text) == number for number, text in found if text.strip().isdigit() and len(text) == 7)


def test_bytes_that_are_no_text_pass_through(log: Path) -> None:
    log.write_bytes(gzip.compress(b"x" * 1000) + b"\n\xff\xfe\n")
    pieces = [piece for piece in Follower(str(log)).news() if piece]
    assert b"".join(piece.data for piece in pieces) == log.read_bytes()


def test_a_file_that_is_written_anew_each_time_is_read_anew(log: Path) -> None:
    follower = Follower(str(log))
    log.write_text("x" * 100 + "\nepoch 1\n")
    lines_of(follower)
    log.write_text("x" * 100 + "\nepoch 0\nepoch 1\n")
    assert lines_of(follower)[2:] == [(2, "epoch 0"), (3, "epoch 1")]
