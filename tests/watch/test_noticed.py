"""What is worth an investigation at once, and what is not."""

import random

import pytest

from traindx.watch.noticed import Noticed

HEALTHY = b"".join(b"step %d loss %.4f\n" % (n, 2 / (n + 1)) for n in range(200))


def noticed(*pieces: bytes) -> Noticed:
    made, first = Noticed("train.log", pieces[0]), 1
    for piece in pieces:
        made.take(first, piece)
        first += piece.count(b"\n")
    return made


@pytest.mark.parametrize(
    "line",
    [
        b"RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n",
        b"step 200 loss nan\n",
        b"step 200 loss inf\n",
        b"slurmstepd: error: *** JOB 5 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***\n",
    ],
)
def test_an_error_or_a_number_that_is_none_is_urgent_once(line: bytes) -> None:
    made = noticed(HEALTHY, line)
    assert made.asked()
    assert not made.asked()
    made.take(300, line)
    assert not made.asked(), "the same again is nothing new"


@pytest.mark.parametrize(
    "line",
    [b"error rate 0.31\n", b"UserWarning: lr_scheduler was called before optimizer\n", b"\n", b"\xff\xfe\x00\n"],
)
def test_other_lines_are_not(line: bytes) -> None:
    assert not noticed(HEALTHY, line).asked()


def test_numbers_are_read_in_tables_and_json_lines_too() -> None:
    table = b"step,loss\n" + b"".join(b"%d,%.4f\n" % (n, 1 / (n + 1)) for n in range(50))
    made = noticed(table, b"50,0.01\n51,nan\n52,nan\n")
    assert made.asked()
    assert made.points == 53
    rows = b"".join(b'{"step": %d, "loss": %.4f}\n' % (n, 1 / (n + 1)) for n in range(50))
    assert noticed(rows, b'{"step": 50, "loss": NaN}\n').asked()


def course(levels: list[float]) -> Noticed:
    rng = random.Random(2)
    pieces = [b"".join(b"step %d loss %.4f\n" % (n, level + rng.gauss(0, 0.05)) for n in range(50)) for level in levels]
    return noticed(*pieces)


def test_a_loss_that_leaves_its_band_is_astray_until_it_is_back() -> None:
    falling = [2.0 - 0.1 * n for n in range(10)]
    assert not course(falling).astray
    assert course([*falling, 3.5]).astray
    assert course([*falling, 3.5, 3.5, 3.5, 3.5]).astray, "it does not become usual by lasting"
    assert not course([*falling, 3.5, 1.0]).astray
    assert not course([1.0, 9.0]).astray, "the usual course is not known yet"


def test_a_loss_that_grows_within_a_piece_is_astray() -> None:
    rng = random.Random(2)
    steady = [b"".join(b"step %d loss %.4f\n" % (n, 1 + rng.gauss(0, 0.05)) for n in range(50)) for _ in range(8)]
    growing = b"".join(b"step %d loss %.4f\n" % (n, 1.05**n) for n in range(50, 130))
    assert not noticed(*steady).astray
    assert noticed(*steady, growing).astray


def test_the_manner_of_a_log_is_known_from_its_first_lines() -> None:
    first = b"".join(b"Schritt %d Verlust %d,%04d\n" % (n, 1, 7000 - n) for n in range(50))
    made = noticed(b"start\n", first, b"Schritt 50 Verlust 1,2000\n" * 9)
    assert made.points == 59
    assert not made.asked()
