"""Batches of a handful."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite_setting
from traindx.detectors.settings.lookup import named
from traindx.readers.model import Setting

SIGNALS = {"batch-tiny": "the batch has only a few samples"}

TINY_BATCH = 4


def detect(settings: Sequence[Setting]) -> list[Signal]:
    """A batch of a handful of samples."""
    size = named(settings, "batch_size", "per_device_train_batch_size", "train_batch_size", "bs", "batch")
    if size is None or not 0 < float(size.value) <= TINY_BATCH:
        return []
    claim = f"`{size.key}` = {size.value:g}"
    facts: dict[str, Fact] = {"batch_size": size.value, "batch_place": f"{size.source}:{size.line}"}
    return [Signal(id="batch-tiny", claim=claim, citations=[cite_setting(size, claim)], facts=facts)]
