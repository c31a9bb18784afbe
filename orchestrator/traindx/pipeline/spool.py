"""Standard input as a file: all of it, or its beginning and its end where it is longer than it may be."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO

from traindx.contract.remark import Notable
from traindx.definitions.choices import STDIN
from traindx.errors import UnreadableInput

MOST_KEPT = 1 << 30
"""bytes of standard input that are kept unless the user asks for more: half from the beginning, half from the end"""
MOST_READ = 4
"""times what is kept: an input that goes on beyond is taken to be endless"""
_PIECE = 1 << 20


def spool(folder: Path, most: int | None, remarks: list[str]) -> Path:
    """Write standard input to a file in `folder`; what is left out in the middle is marked there and remarked on."""
    source = getattr(sys.stdin, "buffer", None)
    if source is None:
        raise UnreadableInput(STDIN, "standard input is closed")
    kept = max(2, most or MOST_KEPT)
    target = folder / "stdin.log"
    with target.open("wb") as file:
        head = _copy(source, file, kept - kept // 2)
        with (folder / "tail").open("w+b") as tail:
            rest, endless = _ring(source, tail, kept // 2, kept * MOST_READ)
            left_out = _append_tail(file, tail, rest, kept // 2)
        (folder / "tail").unlink()
    if left_out:
        came = f"{_megabytes(head + rest)}{' and more' if endless else ''}"
        gap = f"{_megabytes(left_out)} between them were left out (`--max-input` raises the limit)"
        remarks.append(Notable(f"of {came} on standard input the beginning and the end were read; {gap}"))
    return target


def _copy(source: IO[bytes], file: IO[bytes], most: int) -> int:
    done = 0
    while done < most and (piece := _read(source, min(_PIECE, most - done))):
        file.write(piece)
        done += len(piece)
    return done


def _read(source: IO[bytes], most: int) -> bytes:
    try:
        return source.read(most)
    except OSError as error:
        raise UnreadableInput(STDIN, (error.strerror or "it cannot be read").lower()) from None


def _ring(source: IO[bytes], tail: IO[bytes], length: int, most: int) -> tuple[int, bool]:
    """Keep the last `length` bytes in `tail`, wrapped around; says how many came, and whether there is no end."""
    done = 0
    while done < most and (piece := _read(source, _PIECE)):
        view = memoryview(piece)
        while view:
            at = done % length
            tail.seek(at)
            count = tail.write(view[: length - at])
            view, done = view[count:], done + count
    return done, done >= most


def _append_tail(file: IO[bytes], tail: IO[bytes], came: int, length: int) -> int:
    """Put the tail behind the head, in order, from its first whole line on; how many bytes are missing between."""
    if came <= length:
        tail.seek(0)
        _copy(tail, file, came)
        return 0
    start = came % length
    tail.seek(start)
    torn = tail.readline(_PIECE)
    left_out = came - length + len(torn)
    file.write(f"\n[traindx: {left_out:,} bytes of standard input were left out here]\n".encode())
    tail.seek(min(start + len(torn), length))
    _copy(tail, file, length)
    tail.seek(0)
    _copy(tail, file, start)
    return left_out


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.0f} MB" if count >= 10_000_000 else f"{count:,} bytes"
