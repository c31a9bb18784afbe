"""Checkpoints that no program can load: cut off, damaged, or no weights at all."""

from __future__ import annotations

import re
from collections.abc import Sequence

from traindx.contract import Fact, Signal
from traindx.detectors.checkpoints.citing import cite_file
from traindx.readers.checkpoints import Checkpoint

SIGNALS = {
    "checkpoint-damaged": "a checkpoint is cut off or damaged: no program can load it",
    "checkpoint-is-no-weights": "a file in place of a checkpoint holds something else: a pointer, a page, text",
}
MOST_NAMED = 3
_UNFINISHED = re.compile(
    r"(?:^|[^a-z])(?:te?mp|partial|part|incomplete|unfinished|crdownload)(?:[^a-z]|$)", re.IGNORECASE
)


def detect(checkpoints: Sequence[Checkpoint]) -> list[Signal]:
    """Damaged files, and files that are something else; one that is being written is neither."""
    checkpoints = [row for row in checkpoints if not _UNFINISHED.search(row.path)]
    hurt = [row for row in checkpoints if row.damage and row.format != "not-weights"]
    other = [row for row in checkpoints if row.damage and row.format == "not-weights"]
    found = []
    if hurt:
        found.append(_signal("checkpoint-damaged", hurt, checkpoints))
    if other:
        found.append(_signal("checkpoint-is-no-weights", other, checkpoints))
    return found


def _signal(name: str, rows: Sequence[Checkpoint], all_of_them: Sequence[Checkpoint]) -> Signal:
    first = rows[0]
    more = f", and {len(rows) - 1} more" if len(rows) > 1 else ""
    claim = f"`{first.path}` cannot be loaded: {first.damage[0]}{more}"
    facts: dict[str, Fact] = {"checkpoint": first.path, "damage": str(first.damage[0]), "damaged_files": len(rows)}
    sound = [row.path for row in all_of_them if not row.problems and row.tensors]
    if sound:
        facts["sound_checkpoint"] = sound[-1]
    places = [cite_file(row, f"`{row.path}`: {row.damage[0]}", row.damage[0]) for row in rows[:MOST_NAMED]]
    return Signal(id=name, claim=claim, citations=places, facts=facts)
