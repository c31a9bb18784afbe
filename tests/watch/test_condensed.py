"""A long text in little memory: what is kept stands where it stood, and what matters is kept."""

import io
import random
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from traindx.watch.condensed import MOST_BYTES, MOST_LINES, TAIL, Condensed
from traindx.watch.noticed import Noticed


def condensed(text: bytes, size: int = 50_000) -> list[bytes]:
    """The text with its left-out lines empty, as it comes out when it comes in pieces."""
    kept, noticed = Condensed(), Noticed("train.log", text)
    lines = [line + b"\n" for line in text.split(b"\n")[:-1]]
    first = 1
    while first <= len(lines):
        piece: list[bytes] = []
        count = 0
        while first - 1 + len(piece) < len(lines) and count < size:
            piece.append(lines[first - 1 + len(piece)])
            count += len(piece[-1])
        data = b"".join(piece)
        stays, freed = noticed.take(first, data)
        kept.forget(freed)
        kept.take(first, data, stays)
        first += len(piece)
    target = io.BytesIO()
    kept.write(target)
    return target.getvalue().split(b"\n")[:-1]


def steps(count: int) -> list[str]:
    rng = random.Random(4)
    return [f"step {n} loss {2 / (n + 1) + rng.gauss(0, 0.01):.5f} lr 0.001\n" for n in range(count)]


def test_lines_keep_their_numbers_and_most_are_left_out() -> None:
    rows = steps(60_000)
    found = condensed("".join(rows).encode())
    assert len(found) == len(rows)
    kept = [(number, line) for number, line in enumerate(found) if line]
    assert all(line == rows[number].strip().encode() for number, line in kept)
    assert 2_000 < len(kept) <= 2 * MOST_LINES
    gaps = [after - before for (before, _), (after, _) in pairwise(kept)]
    assert max(gaps) <= 64, "what is kept is spread over the whole text"


def test_rare_lines_single_spikes_and_numbers_that_are_none_stay() -> None:
    rows = steps(60_000)
    rows[23_456] = "step 23456 loss 87.25000 lr 0.001\n"
    rows[41_000] = "step 41000 loss nan lr 0.001\n"
    rows[30_000] = "saving a checkpoint to last.pt\n"
    trace = ["Traceback (most recent call last):\n", '  File "a.py", line 3, in f\n', "ValueError: bad batch\n"]
    rows[50_000:50_003] = trace
    found = condensed("".join(rows).encode())
    for number in (23_456, 41_000, 30_000, 50_000, 50_001, 50_002):
        assert found[number] == rows[number].rstrip("\n").encode()


def test_the_end_is_whole() -> None:
    rows = steps(30_000)
    assert condensed("".join(rows).encode())[-TAIL:] == [row.strip().encode() for row in rows[-TAIL:]]


def test_prose_of_which_no_two_lines_are_alike_is_bounded_too() -> None:
    rng = random.Random(9)
    words = ["".join(rng.choices("abcdefghij", k=6)) for _ in range(3_000)]
    rows = [" ".join(rng.choices(words, k=12)) + "\n" for _ in range(40_000)]
    rows[20_000] = "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
    found = condensed("".join(rows).encode())
    kept = [line for line in found if line]
    assert len(kept) <= 3 * MOST_LINES
    assert sum(map(len, kept)) <= 2 * MOST_BYTES
    assert found[20_000] == rows[20_000].strip().encode()


def test_a_progress_bar_keeps_its_first_and_last_states() -> None:
    bar = b"\r".join(b"%3d%%|##| %d/1000 [00:01, loss=%.3f]" % (n / 10, n, 1 / (n + 1)) for n in range(1_000))
    (line,) = condensed(bar + b"\n")
    assert len(line) <= 20_000
    assert line.startswith(b"  0%|##| 0/1000")
    assert line.endswith(b"999/1000 [00:01, loss=0.001]")
    assert all(state.count(b"|") == 2 for state in line.split(b"\r"))


@given(st.lists(st.binary(max_size=60).map(lambda row: row.replace(b"\n", b"")), max_size=60), st.integers(1, 200))
def test_whatever_the_bytes_a_short_text_comes_out_as_it_went_in(rows: list[bytes], size: int) -> None:
    text = b"".join(row + b"\n" for row in rows)
    kept, first = Condensed(), 1
    for start in range(0, len(rows), size):
        part = rows[start : start + size]
        kept.take(first, b"".join(row + b"\n" for row in part))
        first += len(part)
    target = io.BytesIO()
    kept.write(target)
    assert target.getvalue() == text
