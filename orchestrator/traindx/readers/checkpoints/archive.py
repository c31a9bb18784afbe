"""Zip archives as torch, numpy and Keras write them: their directory, and the first record of a broken one."""

from __future__ import annotations

import io
import struct
import zipfile
from typing import BinaryIO

from traindx.vocabulary.file_magic import ZIP

_MOST_AT_ONCE = 64 << 20
"""bytes of a central directory: some 500,000 records"""


class Guarded(io.BufferedIOBase):
    """A file that refuses to be read into memory in one piece."""

    def __init__(self, handle: BinaryIO) -> None:
        self._handle = handle

    def read(self, size: int | None = -1, /) -> bytes:
        """At most what a directory can need."""
        if size is None or size < 0:
            return self._handle.read(_MOST_AT_ONCE)  # the end of the archive, which zipfile asks for without a number
        if size > _MOST_AT_ONCE:
            raise zipfile.BadZipFile("its directory is too large")
        return self._handle.read(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Move, as in any file."""
        return self._handle.seek(offset, whence)

    def tell(self) -> int:
        """Where the next read begins."""
        return self._handle.tell()

    def seekable(self) -> bool:
        """Always."""
        return True

    def readable(self) -> bool:
        """Always."""
        return True


def opened(handle: BinaryIO) -> zipfile.ZipFile | None:
    """The archive, or None where its directory is missing or broken."""
    try:
        return zipfile.ZipFile(Guarded(handle))
    except (
        zipfile.BadZipFile,
        ValueError,
        OSError,
        struct.error,
        OverflowError,
        MemoryError,
        NotImplementedError,
        EOFError,
    ):
        return None


def record(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes | None:
    """The beginning of a record, or None where it cannot be read."""
    try:
        with archive.open(info) as inner:
            return inner.read(most)
    # zlib.error is no ValueError; an encrypted record is a RuntimeError.
    except (zipfile.BadZipFile, ValueError, OSError, EOFError, RuntimeError, NotImplementedError, struct.error):
        return None
    except Exception as error:  # zlib, bz2 and lzma each raise an error class of their own
        if type(error).__module__ in {"zlib", "_lzma", "lzma", "bz2"}:
            return None
        raise


def first_record(handle: BinaryIO) -> tuple[str, int] | None:
    """The name of the first record and where its bytes begin, read from the front: all that a cut archive has."""
    handle.seek(0)
    head = handle.read(30)
    if len(head) < 30 or not head.startswith(ZIP):
        return None
    method, name_length, extra_length = struct.unpack_from("<H", head, 8)[0], *struct.unpack_from("<HH", head, 26)
    name = handle.read(name_length).decode("utf-8", errors="replace")
    return (name, 30 + name_length + extra_length) if method == 0 and name_length <= 1_000 else None
