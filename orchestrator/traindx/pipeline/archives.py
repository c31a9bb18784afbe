"""Unpacking an archive that was given as PATH: regular files only, within bounds, nowhere but into one folder."""

from __future__ import annotations

import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from typing import IO

from traindx.contract.remark import Notable
from traindx.errors import UnreadableInput
from traindx.vocabulary.file_magic import ARCHIVES, PICKLES, magic_of

MOST_BYTES = 2 << 30
"""unpacked, unless the user asks for more; an archive that holds more is a bomb or a data set"""
ALWAYS_BYTES = 64 << 20
"""that many are unpacked however small the archive is"""
MOST_RATIO = 100
"""times the size of the archive: logs shrink to a tenth, very repetitive ones to a fiftieth, bombs to a thousandth"""
MOST_MEMBERS = 100_000
_PIECE = 1 << 20
_HEAD = 512
_BROKEN = (zipfile.BadZipFile, tarfile.TarError, zlib.error, LZMAError, EOFError, OSError, RuntimeError, ValueError)


def is_archive(path: Path) -> bool:
    """Whether to unpack a file; raises `UnreadableInput` where its name promises an archive and it is a broken one."""
    if not path.name.lower().endswith(ARCHIVES) or not os.path.isfile(path):  # noqa: PTH113 - no name makes it raise
        return False
    try:
        if zipfile.is_zipfile(path):
            return not _is_checkpoint(path)
        if tarfile.is_tarfile(path):
            return True
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except PermissionError:
        return False
    except _BROKEN as error:
        raise UnreadableInput(path, f"the archive is damaged: {error}") from None
    # Old PyTorch examples call their checkpoints `model.pth.tar`; and a text is a text, whatever its name.
    if head.startswith(PICKLES) or (head and b"\0" not in head and magic_of(head) is None):
        return False
    raise UnreadableInput(path, "the archive is damaged, or none at all" if head else "the archive is empty")


def unpack(path: Path, folder: Path, most: int | None, remarks: list[str]) -> None:
    """Regular files only, below `folder`; links, devices and paths that lead out are left out."""
    bound = most or min(MOST_BYTES, max(ALWAYS_BYTES, MOST_RATIO * path.stat().st_size))
    unpacked = _Unpacked(folder, bound)
    try:
        if zipfile.is_zipfile(path):
            _unzip(path, unpacked)
        else:
            _untar(path, unpacked)
    except _BROKEN as error:
        if not unpacked.members:
            raise UnreadableInput(path, f"the archive is damaged: {error}") from None
        remarks.append(Notable(f"`{path.name}` is damaged; {unpacked.members} files were unpacked before that"))
    if not unpacked.members:
        raise UnreadableInput(path, "the archive holds no file")
    if unpacked.cut:
        done = f"{unpacked.members:,} files and {unpacked.bytes / 1e6:,.0f} MB were unpacked"
        remarks.append(
            Notable(f"`{path.name}` is too large: {done}, the rest left out (`--max-input` raises the limit)")
        )
    if unpacked.skipped:
        what = f"of `{path.name}`, {unpacked.skipped} links, devices or files outside it were left out"
        remarks.append(Notable(what))


class _Unpacked:
    """What has been unpacked so far, and how much more may be."""

    def __init__(self, folder: Path, most: int) -> None:
        self.folder, self.most = folder, most
        self.members = self.bytes = self.skipped = 0
        self.cut = False

    @property
    def full(self) -> bool:
        """Whether the bounds are reached with something left to unpack."""
        self.cut = self.cut or self.bytes >= self.most or self.members >= MOST_MEMBERS
        return self.cut

    def take(self, name: str, open_member: Callable[[], IO[bytes] | None]) -> None:
        """Write one member, as far as the bounds allow."""
        parts = [part for part in PurePosixPath(name.replace("\\", "/")).parts if part not in {"/", "."}]
        source = None if not parts or ".." in parts or "\0" in name else open_member()
        if source is None:
            self.skipped += 1
            return
        target = self.folder.joinpath(*parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        with source, target.open("wb") as file:
            while piece := source.read(min(_PIECE, max(1, self.most - self.bytes))):
                if self.bytes >= self.most:
                    self.cut = True
                    break
                file.write(piece)
                self.bytes += len(piece)
        self.members += 1


def _is_checkpoint(path: Path) -> bool:
    """Whether a zip is what `torch.save` writes: it is read as that, not unpacked."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    folder = names[0].split("/")[0] if names else ""
    return f"{folder}/data.pkl" in names and f"{folder}/version" in names


def _unzip(path: Path, unpacked: _Unpacked) -> None:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            kind = stat.S_IFMT(member.external_attr >> 16)
            if member.is_dir():
                continue
            if unpacked.full:
                return
            if kind not in {0, stat.S_IFREG}:
                unpacked.skipped += 1
            else:
                unpacked.take(member.filename, partial(archive.open, member))


def _untar(path: Path, unpacked: _Unpacked) -> None:
    with tarfile.open(path) as archive:
        for member in archive:
            if member.isdir():
                continue
            if unpacked.full:
                return
            if not member.isreg():
                unpacked.skipped += 1
            else:
                unpacked.take(member.name, partial(archive.extractfile, member))
