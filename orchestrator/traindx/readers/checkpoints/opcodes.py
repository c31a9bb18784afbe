"""The operations of a pickle, one by one, without ever holding a large argument in memory."""

from __future__ import annotations

import io
import pickletools
from collections.abc import Iterator
from dataclasses import dataclass

from traindx.readers.checkpoints.symbols import Blob

_LONGEST = 1 << 20
"""bytes of an argument that are kept"""
_KEPT = 4_096
# Opcodes whose argument is a length and that many bytes: the width of the length, and whether they are text.
_LENGTHS: dict[str, tuple[int, bool]] = {
    "BINUNICODE": (4, True),
    "SHORT_BINUNICODE": (1, True),
    "BINUNICODE8": (8, True),
    "BINBYTES": (4, False),
    "SHORT_BINBYTES": (1, False),
    "BINBYTES8": (8, False),
    "BYTEARRAY8": (8, False),
    "BINSTRING": (4, True),
    "SHORT_BINSTRING": (1, True),
}


_BY_CODE = {operation.code.encode("latin-1"): operation for operation in pickletools.opcodes}


class Broken(ValueError):
    """A pickle that ends or goes wrong before its last operation."""


@dataclass
class Stream:
    """A pickle's bytes, read forward; never more of them at once than `_LONGEST`."""

    handle: io.BufferedIOBase
    left: int
    """how many bytes there are"""

    def read(self, count: int = -1) -> bytes:
        """Exactly `count` bytes or fewer at the end; a request that is too large is the file's fault."""
        if not 0 <= count <= _LONGEST:
            raise Broken("an argument of impossible length")
        taken = self.handle.read(min(count, self.left))
        self.left -= len(taken)
        return taken

    def readline(self) -> bytes:
        """One line of bounded length."""
        taken = self.handle.readline(min(_LONGEST, self.left))
        self.left -= len(taken)
        return taken

    def skip(self, count: int) -> None:
        """Pass over bytes."""
        if count > self.left:
            raise Broken("it ends in the middle of a value")
        self.handle.seek(count, io.SEEK_CUR)
        self.left -= count


def operations(stream: Stream) -> Iterator[tuple[str, object]]:
    """The name and argument of each operation up to STOP; raises `Broken` where the pickle does."""
    while True:
        code = stream.read(1)
        operation = _BY_CODE.get(code)
        if not code or operation is None:
            raise Broken("it ends before its last operation" if not code else f"`{code!r}` is no pickle operation")
        name = operation.name
        argument: object = None
        if name in _LENGTHS:
            argument = _counted(stream, *_LENGTHS[name])
        elif operation.arg is not None:
            try:
                argument = operation.arg.reader(stream)  # type: ignore[arg-type]
            except (ValueError, OverflowError, MemoryError) as error:
                raise Broken(str(error)[:120]) from None
        yield name, argument
        if name == "STOP":
            return


def _counted(stream: Stream, width: int, text: bool) -> object:
    counted = stream.read(width)
    if len(counted) < width:
        raise Broken("it ends in the middle of a value")
    length = int.from_bytes(counted, "little")
    if length > _KEPT:
        start = stream.read(64) if length <= stream.left else b""
        stream.skip(length - len(start))
        return Blob(length, start)
    taken = stream.read(length)
    if len(taken) < length:
        raise Broken("it ends in the middle of a value")
    return taken.decode("utf-8", errors="replace") if text else Blob(length, taken)
