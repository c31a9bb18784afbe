"""Gzipped and UTF-16 text is the same text at every place, and what repeats for ever is given by both its ends."""

import gzip
import io

import pytest

from traindx.readers.logs.plaintext import index_of

TEXT = "".join(f"step {step} loss {2.0 / (1 + step):.6f} \N{GREEK SMALL LETTER EPSILON}\n" for step in range(400_000))


@pytest.mark.parametrize("form", ["gzip", "two gzips", "utf-16-le", "utf-16-be"])
def test_any_place_can_be_gone_to(form: str) -> None:
    raw = TEXT.encode()
    half = len(raw) // 2
    packed = {
        "gzip": lambda: gzip.compress(raw, 1),
        "two gzips": lambda: gzip.compress(raw[:half], 1) + gzip.compress(raw[half:], 1),
        "utf-16-le": lambda: b"\xff\xfe" + TEXT.encode("utf-16-le"),
        "utf-16-be": lambda: b"\xfe\xff" + TEXT.encode("utf-16-be"),
    }[form]()
    index = index_of(io.BytesIO(packed))
    assert index is not None
    view = index.view(io.BytesIO(packed))
    assert view.read() == raw
    for place in (0, 5, half, len(raw) - 100, 9 << 20, 3):
        view.seek(place)
        assert view.read(2_000) == raw[place : place + 2_000]


@pytest.mark.parametrize("raw", [b"", b"step 1 loss 2\n", b"\xef\xbb\xbfstep 1\n"])
def test_plain_text_has_no_index(raw: bytes) -> None:
    assert index_of(io.BytesIO(raw)) is None


@pytest.mark.parametrize("raw", [b"\x1f\x8b", b"\x1f\x8b\x08", b"\xff\xfe", b"\xff\xfea", gzip.compress(b"", mtime=0)])
def test_what_holds_nothing_is_read_as_nothing(raw: bytes) -> None:
    index = index_of(io.BytesIO(raw))
    assert index is not None
    assert index.view(io.BytesIO(raw)).read().strip("\N{REPLACEMENT CHARACTER}".encode()) == b""


def test_lines_between_both_ends_are_counted_and_empty() -> None:
    line = b"the same warning again and again and again\n"
    packed = gzip.compress(b"first\n" + line * 1_000_000 + b"last\n", 9)
    index = index_of(io.BytesIO(packed), harmless=1 << 20)
    assert index is not None
    assert index.gap is not None
    lines = index.view(io.BytesIO(packed)).read().split(b"\n")
    assert len(lines) == 1_000_003
    assert (lines[0], lines[-2]) == (b"first", b"last")
    assert set(lines[1:-2]) == {line.strip(), b""}
    assert index.left_out > 10 << 20
