"""What files and columns of data are called: splits, labels, and what is no input."""

from __future__ import annotations

import re
from typing import Literal

Split = Literal["train", "val", ""]

_TRAIN = re.compile(r"(?:^|[^a-z])(?:train|training|trn|tr)(?:[^a-z]|$)")
_VAL = re.compile(r"(?:^|[^a-z])(?:val|valid|validation|dev|test|testing|eval|evaluation|holdout|heldout)(?:[^a-z]|$)")
_LABELS = {
    "label", "labels", "target", "targets", "class", "cls", "y", "category", "label_id", "class_id", "label_idx",
    "ylabel", "y_true", "species", "diagnosis", "outcome", "sentiment", "intent", "fraud", "is_fraud", "churn",
    "churned", "gold",
}  # fmt: skip
_LABEL_PARTS = re.compile(r"^(?:y|labels?|targets?|cls|class(?:es)?)(?:[_-]|$)|[_-](?:y|labels?|targets?|class)$")
_NO_INPUT = re.compile(
    r"^(?:unnamed.*|id|idx|index|row|uid|uuid|split|fold|set|weight|sample_weight|date|datetime|day|month|year|hour|"
    r"time|timestamp|ts|file|filename|path|url|name|.*_id|.*_time|.*_date)$"
)
_ROW_NAME = re.compile(r"^(?:unnamed.*|id|idx|index|row|uid|uuid|guid|key|.*_(?:id|uuid|key|idx)|sample)$")
_TIME = re.compile(r"(?:^|[_ ])(?:date|datetime|day|month|year|time|timestamp|ts)(?:$|[_ ])|_at$")
_SOMEBODY = re.compile(
    r"^(?:patient|patientin|proband|subject|person|participant|donor|animal|specimen)s?"
    r"(?:[_ -]?(?:id|no|nr|num|number|code))?$"
)
_SHARD = re.compile(r"\d+")


def split_of(path: str) -> Split:
    """The split that a path (or the name of an array) speaks of; held-out data of any kind is `val`."""
    name = path.lower()
    if _VAL.search(name.rpartition("/")[2]):
        return "val"
    if _TRAIN.search(name.rpartition("/")[2]):
        return "train"
    return "val" if _VAL.search(name) else "train" if _TRAIN.search(name) else ""


def names_somebody(name: str) -> bool:
    """Whether a column says whom a row was taken from: rows of one person are no independent samples."""
    return _SOMEBODY.match(name.lower().strip()) is not None


def is_label(name: str) -> bool:
    """Whether a column or an array of this name holds what is to be predicted."""
    plain = name.lower().strip()
    return plain in _LABELS or _LABEL_PARTS.search(plain) is not None


def is_input(name: str) -> bool:
    """Whether a column of this name is fed to a model, as far as its name tells."""
    return not is_label(name) and _NO_INPUT.match(name.lower().strip()) is None


def is_name_of_row(name: str) -> bool:
    """Whether a column of this name only tells rows apart: the same sample may have another one in another file."""
    return _ROW_NAME.match(name.lower().strip()) is not None


def is_time(name: str) -> bool:
    """Whether a column of this name tells when a row was made."""
    return _TIME.search(name.lower().strip()) is not None


def stem_of(path: str) -> str:
    """A path without its numbers: the shards of one data set share it."""
    return _SHARD.sub("#", path)
