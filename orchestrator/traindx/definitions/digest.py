"""Telling whether files have changed since something was made from them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


def digest_of(parts: Iterable[tuple[Path, str]]) -> str:
    """Of the names and the content of every file that matches a pattern below its folder."""
    seen = hashlib.blake2b(digest_size=16)
    for folder, pattern in parts:
        for path in sorted(folder.glob(pattern)):
            content = path.read_bytes()
            seen.update(f"{path.relative_to(folder).as_posix()} {len(content)}\n".encode())
            seen.update(content)
    return seen.hexdigest()
