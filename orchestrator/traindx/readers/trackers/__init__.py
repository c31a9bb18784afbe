"""Files of experiment trackers: which one a file belongs to, by its content, and what it holds.

`recognise(path, head)` names the format of a file from its first bytes (`HEAD` of them are enough), or says None: then
the file is text or a table like any other. `read(kind, handle, source)` gives its series, settings and remarks, and
raises nothing, whatever the bytes are. `quote(kind, handle, number)` puts one record of a binary file into words, to
cite it. A remark does not name the file: who prints it does.

Each format stands for itself, one file at a time, so a store that is a folder (an `mlruns`, a `wandb` run) is read by
reading its files. What its plain files hold is left to the readers of logs, tables and settings: W&B's `config.yaml`,
`output.log` and `wandb-history.jsonl`, Sacred's `config.json` and `cout.txt`, Hydra's `.hydra/*.yaml`, Lightning's
`hparams.yaml` and `metrics.csv`.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from typing import BinaryIO, Literal, Protocol

from traindx.readers.configs.values import is_secret
from traindx.readers.model import Role
from traindx.readers.trackers import database, mlflow, sacred, tensorboard, trackio, wandb
from traindx.readers.trackers.points import Found
from traindx.readers.trackers.tfrecord import looks_like_records
from traindx.vocabulary.file_magic import SQLITE, WANDB

__all__ = ["BINARY", "HEAD", "Found", "Kind", "quote", "read", "recognise", "worth_a_look"]

Kind = Literal[
    "tensorboard", "wandb", "sqlite", "mlflow-metric", "mlflow-parameter", "mlflow-tag", "mlflow-run",
    "sacred-metrics", "sacred-run",
]  # fmt: skip
HEAD = 4 << 10
"""bytes of a file that `recognise` wants to see"""
BINARY: frozenset[Kind] = frozenset({"tensorboard", "wandb", "sqlite"})
"""formats whose values stand in records, not on lines"""
_READERS: dict[Kind, Callable[[BinaryIO, str], Found]] = {
    "tensorboard": tensorboard.read,
    "wandb": wandb.read,
    "mlflow-metric": mlflow.read_metric,
    "mlflow-parameter": mlflow.read_parameter,
    "mlflow-tag": mlflow.read_tag,
    "mlflow-run": mlflow.read_run,
    "sacred-metrics": sacred.read_metrics,
    "sacred-run": sacred.read_run,
}
# The run's own folder is named by 32 hexadecimal digits; where the run is all there is, `params` comes first.
_MLFLOW_VALUE = re.compile(r"(?:^|(?:^|/)[0-9a-f]{32}/)(params|tags)/(?:.+)$")
_MLFLOW_FILE = re.compile(r"(?:^|/)(?:metrics|params|tags)/[^/]|(?:^|/)meta\.yaml$")
_SACRED_FILE = re.compile(r"(?:^|/)(?:metrics|run)\.json$")
_FILE_ENDING = re.compile(r"\.(?:ya?ml|json|py|txt|md|csv|npy|npz|bin|pt|pth|toml|ini|pkl|cfg|sh)$", re.IGNORECASE)
_LONGEST_PARAMETER = 6_000
_SACRED_METRIC = re.compile(rb'\s*\{\s*"[^"\n]{1,200}":\s*\{\s*"(?:name|steps|timestamps|values)":')


def worth_a_look(path: str, role: Role) -> bool:
    """Whether a file may be a tracker's: those of a known role with a telling ending are not opened for it."""
    name = path.rpartition("/")[2]
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    if "tfevents" in name or ending in {"wandb", "db", "sqlite", "sqlite3", "tfevents"}:
        return True
    if _MLFLOW_FILE.search(path) or _SACRED_FILE.search(path):
        return True
    return role in {"other", "data", "metrics"} and ending in {"", "bin", "data", "tb", "events", "v2", "dat"}


def recognise(path: str, head: bytes) -> Kind | None:
    """The format of a file that begins with `head`, or None; only MLflow's bare values need the path too."""
    if head.startswith(WANDB):
        return "wandb"
    if head.startswith(SQLITE):
        return "sqlite"
    if looks_like_records(head):
        return "tensorboard" if _holds_events(path, head) else None
    return _recognised_text(path, head)


def read(kind: Kind, handle: BinaryIO, source: str) -> Found:
    """What a file of a recognised format holds. Never raises for what is in the file."""
    try:
        found = _read_database(handle, source) if kind == "sqlite" else _READERS[kind](handle, source)
    except (ValueError, ArithmeticError, LookupError, RecursionError, MemoryError) as error:
        return Found([], [], [f"it could not be parsed: {error}"])
    return found._replace(settings=[row for row in found.settings if not is_secret(row.key, row.value)])


def quote(kind: Kind, handle: BinaryIO, number: int) -> str:
    """One record of a binary file in words; empty where it has none to cite."""
    try:
        if kind == "tensorboard":
            return tensorboard.quote(handle, number)
        if kind == "wandb":
            return wandb.quote(handle, number)
        return _quote_row(handle, number) if kind == "sqlite" else ""
    except (ValueError, ArithmeticError, LookupError):
        return ""


def _holds_events(path: str, head: bytes) -> bool:
    """Whether records are events: those of a data set are records too. An event begins with its wall time."""
    return head[12:13] == b"\x09" and (head[21:22] in (b"\x10", b"\x1a", b"\x2a", b"") or "tfevents" in path)


def _recognised_text(path: str, head: bytes) -> Kind | None:
    parts = path.split("/")
    if "metrics" in parts[:-1] and mlflow.METRIC_LINE.match(head):
        return "mlflow-metric"
    if parts[-1] == "meta.yaml" and b"lifecycle_stage:" in head and b"run_id:" in head:
        return "mlflow-run"
    if _SACRED_METRIC.match(head) and b'"steps":' in head:
        return "sacred-metrics"
    if head.lstrip().startswith(b"{") and b'"experiment"' in head and b'"base_dir"' in head:
        return "sacred-run"
    value = _MLFLOW_VALUE.search(path)
    if value and len(head) < min(_LONGEST_PARAMETER, HEAD) and b"\0" not in head and not _FILE_ENDING.search(path):
        return "mlflow-parameter" if value[1] == "params" else "mlflow-tag"
    return None


def _read_database(handle: BinaryIO, source: str) -> Found:
    try:
        with database.opened(handle) as store:
            kept_by = _store(store)
            if kept_by is None:
                return Found([], [], ["it is a database, but not of a known tracker"])
            return kept_by.read_database(store, source)
    except sqlite3.Error as error:
        return Found([], [], [f"the database cannot be read: {error}"])


def _quote_row(handle: BinaryIO, number: int) -> str:
    try:
        with database.opened(handle) as store:
            kept_by = _store(store)
            return "" if kept_by is None else kept_by.quote_row(store, number)
    except sqlite3.Error:
        return ""


class _Store(Protocol):
    """A module that reads the database of one tracker."""

    def read_database(self, database: database.Database, source: str, /) -> Found:
        """The chosen run of the database."""

    def quote_row(self, database: database.Database, number: int, /) -> str:
        """One row of its metrics in words."""


def _store(store: database.Database) -> _Store | None:
    """The tracker whose tables a database has."""
    has = store.columns("metrics")
    if {"key", "value", "run_uuid"} <= has:
        return mlflow
    return trackio if {"id", "run_name", "step", "metrics"} <= has else None
