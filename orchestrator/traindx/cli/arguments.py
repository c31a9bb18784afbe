"""What words on the command line mean: paths, files to write, sizes."""

from __future__ import annotations

import argparse
import math
import re
from pathlib import Path

from traindx.errors import UsageError

HERE = "."
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def run_path(text: str) -> str:
    """A path to read; an empty one is a shell variable that was never set."""
    if not text:
        raise UsageError("a path is empty: was a variable not set? `.` is the current folder")
    return text


def target(text: str) -> Path:
    """A file to write, refused at once where it cannot be written."""
    from traindx.pipeline.outputs import check_target

    check_target(text or HERE)
    return Path(text)


def amount(text: str) -> float:
    """A number, 0 or more."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not found >= 0:
        raise argparse.ArgumentTypeError(f"must be a number, 0 or more, not `{text}`")
    return found


def size(text: str) -> int:
    """`500M` or `4G`, in bytes."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) *([KMGT]?)(?:I?B)?", text.strip().upper())
    if found is None or not float(found.group(1)):
        raise argparse.ArgumentTypeError(f"must be a size such as 500M or 4G, not `{text}`")
    return int(float(found.group(1)) * _UNITS[found.group(2)])
