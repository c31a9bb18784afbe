"""Which checkpoint was saved at a place of the run, as its name says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

_WORDS = {
    "epoch": ("epoch", "ep", "e"),
    "step": ("step", "global_step", "iter", "iteration", "checkpoint", "ckpt", "it"),
}
_BEST = re.compile(r"(?:^|[^a-z])best(?:[^a-z]|$)")


def saved_at(paths: Sequence[str], axis: str, position: float) -> str | None:
    """The path of the checkpoint of an epoch or step; else the one that is called the best."""
    wanted = round(position)
    words = "|".join(_WORDS.get(axis, ()))
    numbered = re.compile(rf"(?:^|[^a-z])(?:{words})[-_= ]?0*{wanted}(?!\d)", re.IGNORECASE) if words else None
    for path in paths:
        if numbered is not None and any(numbered.search(part) for part in path.split("/")):
            return path
    return next((path for path in paths if _BEST.search(PurePosixPath(path).name.lower())), None)
