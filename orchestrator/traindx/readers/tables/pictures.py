"""Folders of pictures: which of them are the same file, byte for byte; a sample of them is read."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

from traindx.vocabulary.data_names import is_label

if TYPE_CHECKING:
    from traindx.readers.run import Run

MOST_READ = 200
"""pictures that are looked at, evenly over all of them"""
LARGEST = 1 << 20
"""bytes of a picture beyond which it is not one picture in every place: what is written large has content"""
_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".pgm", ".ppm", ".gif"})
_NO_INPUT = re.compile(
    r"mask|label|annot|segm?(?:entation)?s?(?:[^a-z]|$)|(?:^|[^a-z])gts?(?:[^a-z]|$)|ground.?truth|target|overlay|heatmap"
    r"|plot|figure|sample|preview|output|result",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Pictures:
    """The pictures of a run that may be inputs, and those of them that are one and the same file."""

    count: int
    looked: int
    same: int
    first: str
    """one of those that are the same"""
    fingerprint: str
    folders: int
    """how many folders these lie in"""


def fingerprint(handle: BinaryIO) -> str:
    """What two files of the same bytes share."""
    content = handle.read(LARGEST)
    return f"blake2b {hashlib.blake2b(content, digest_size=16).hexdigest()}, {len(content):,} bytes"


def read_pictures(run: Run) -> Pictures | None:
    """The pictures among the data; None where there are none."""
    paths = [
        file.path
        for file in run.files
        if file.role == "data" and PurePosixPath(file.path).suffix.lower() in _SUFFIXES and 0 < file.size <= LARGEST
    ]
    paths = [path for path in paths if not _NO_INPUT.search(path) and not any(map(is_label, path.split("/")[:-1]))]
    if not paths:
        return None
    every = max(1, len(paths) // MOST_READ)
    looked = sorted(paths)[::every]
    digests: dict[str, str] = {}
    for path in looked:
        with run.scope.open(path) as handle:
            digests[path] = fingerprint(handle)
    (most, same), *_ = Counter(digests.values()).most_common(1)
    alike = [path for path in looked if digests[path] == most]
    return Pictures(len(paths), len(looked), same, alike[0], most, len({path.rpartition("/")[0] for path in alike}))
