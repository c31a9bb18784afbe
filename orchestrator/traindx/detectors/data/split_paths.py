"""Descriptions of a data set that name one folder or list for training and for validation (`data.yaml`)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite_setting
from traindx.readers.model import Setting

SIGNALS = {"one-file-for-both": "training and validation are configured with the same path"}
_TRAIN, _VAL = frozenset({"train", "training", "trn"}), frozenset({"val", "valid", "validation", "dev"})
_TRAINING = re.compile(r"(?:^|[/_.-])(?:train|training|trn)(?:\d{0,4})(?:$|[/_.-])", re.IGNORECASE)
_PATH = re.compile(r"[/\\]|\.(?:txt|csv|tsv|json|jsonl|parquet|npy|npz|h5|hdf5|tar|lmdb|bin)$", re.IGNORECASE)


def detect(settings: Sequence[Setting]) -> list[Signal]:
    """Two entries side by side, `train:` and `val:`, with one path that names the training data or a file."""
    named: dict[tuple[str, str], dict[str, Setting]] = {}
    for row in settings:
        above, _, key = row.key.lower().rpartition(".")
        if isinstance(row.value, str) and key in _TRAIN | _VAL and _PATH.search(row.value):
            named.setdefault((row.source, above), {})["train" if key in _TRAIN else "val"] = row
    for pair in named.values():
        train, val = pair.get("train"), pair.get("val")
        if train is None or val is None or str(train.value).rstrip("/") != str(val.value).rstrip("/"):
            continue
        last = str(val.value).rstrip("/").replace("\\", "/").rpartition("/")[2]
        # A root with a folder for each split below it is the same for both by design.
        if not _TRAINING.search(str(val.value)) and "." not in last:
            continue
        claim = f"`{train.key}` and `{val.key}` are both {train.value}"
        facts: dict[str, Fact] = {"validation_place": f"{val.source}:{val.line}", "validation_path": str(val.value)}
        places = [cite_setting(val, claim), cite_setting(train, "the training data")]
        return [Signal(id="one-file-for-both", claim=claim, citations=places, facts=facts)]
    return []
