"""Several runs in what was given to look at: sibling folders, or logs side by side in one folder.

Files of one run are told from files of several by what they hold: two runs measure the same things from the start,
each for itself. Parts of one run do not: a phase, a rank, a stage, a stream of output, a job that goes on where another
ended.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import PurePosixPath

from traindx.contract import RunSummary
from traindx.readers.model import LogError, RunFile, Series

MOST_RUNS = 2_000
DEEPEST = 4
_TELLING = frozenset({"log", "metrics"})
# Parts of one run, not runs of their own: a writer per phase, a folder per rank or per checkpoint.
_PART = re.compile(
    r"(?:train|training|val|valid|validation|test|testing|eval|evaluation|dev|rank|node|worker|gpu|host|proc|process"
    r"|local|checkpoint|ckpt|step|steps|epoch|epochs|iter|iteration|global|attempt)[-_]?\d*"
)
# What tells two files of one run apart: streams of one job, stages of one plan, parts of one model.
_PART_WORDS = frozenset([
    "out", "err", "stdout", "stderr", "output", "error", "errors", "log", "logs", "metrics", "metric", "history",
    "results", "loss", "losses", "acc", "accuracy", "grad", "stage", "phase", "task", "part", "shard", "pretrain",
    "pretraining", "finetune", "finetuning", "sft", "warmup", "gen", "generator", "g", "disc", "discriminator",
    "d", "actor", "critic", "policy", "value", "teacher", "student", "encoder", "decoder", "head", "source",
    "target", "main", "debug", "info", "warn", "warning", "system", "gpu", "cpu", "mem", "memory", "profile",
    "monitor",
])  # fmt: skip
_SUFFIXES = frozenset([
    "log", "out", "err", "txt", "csv", "tsv", "json", "jsonl", "ndjson", "stdout", "stderr", "gz", "md",
])  # fmt: skip
_WORD = re.compile(r"[a-z]+|\d+")
_FEWEST = 3
"""points of a curve by which two runs can be compared"""
_ALIKE = 0.6
"""share of the series that two runs of one program have in common"""


@dataclass
class _Files:
    """Files that belong together by their names, and what they hold."""

    words: tuple[str, ...]
    files: list[RunFile] = field(default_factory=list)
    series: list[Series] = field(default_factory=list)
    errors: list[LogError] = field(default_factory=list)

    @property
    def names(self) -> set[str]:
        return {row.name for row in self.series}

    @property
    def logs(self) -> bool:
        return any(file.role == "log" for file in self.files)

    @property
    def pattern(self) -> tuple[str, ...]:
        return tuple("0" if word.isdecimal() else word for word in self.words)


def several_runs(files: Sequence[RunFile], series: Sequence[Series], errors: Sequence[LogError]) -> list[RunSummary]:
    """The runs among the files, each with a word on how it went; none where everything belongs to one run."""
    telling = [file for file in files if file.role in _TELLING and file.size]
    folders = _folders([PurePosixPath(file.path) for file in telling])
    if folders:
        return [
            judged(folder, _below(folder, series), [row for row in errors if row.source.startswith(f"{folder}/")])
            for folder in folders[:MOST_RUNS]
        ]
    return [
        judged(_label(group), group.series, group.errors).model_copy(
            update={"files": [file.path for file in group.files]}
        )
        for group in _side_by_side(telling, series, errors)[:MOST_RUNS]
    ]


def _below(folder: str, series: Sequence[Series]) -> list[Series]:
    return [row for row in series if row.source.startswith(f"{folder}/")]


def _folders(paths: Sequence[PurePosixPath]) -> list[str]:
    """Sibling folders that repeat each other's file names, at the shallowest level where they do."""
    for depth in range(1, DEEPEST + 1):
        if any(len(path.parts) <= depth for path in paths):
            return []
        inside: dict[PurePosixPath, set[str]] = defaultdict(set)
        for path in paths:
            folder = PurePosixPath(*path.parts[:depth])
            inside[folder].add(re.sub(r"\d+", "0", PurePosixPath(*path.parts[depth:]).as_posix()))
        runs = [folder for folder in inside if not _PART.fullmatch(folder.name.lower())]
        names = [name for folder in runs for name in inside[folder]]
        if len(names) > len(set(names)):
            return sorted(folder.as_posix() for folder in runs)
        if len(inside) > 1:
            return []
    return []


def _side_by_side(files: Sequence[RunFile], series: Sequence[Series], errors: Sequence[LogError]) -> list[_Files]:
    """Logs in one folder that are runs of their own."""
    by_folder: dict[str, dict[tuple[str, ...], _Files]] = defaultdict(dict)
    by_path: dict[str, _Files] = {}
    for file in files:
        path = PurePosixPath(file.path)
        words = _words(path.name)
        group = by_folder[path.parent.as_posix()].setdefault(words, _Files(words))
        group.files.append(file)
        by_path[file.path] = group
    for row in series:
        if row.source in by_path and len(row) and not row.duplicate_of:
            by_path[row.source].series.append(row)
    for error in errors:
        if error.source in by_path and error.kind == "error":
            by_path[error.source].errors.append(error)
    for folder in sorted(by_folder, key=lambda name: (name.count("/"), name)):
        groups = list(by_folder[folder].values())
        rivals = {id(one) for pair in combinations(groups, 2) if _rivals(*pair) for one in pair}
        if rivals:
            return [group for group in groups if id(group) in rivals]
    return []


def _words(name: str) -> tuple[str, ...]:
    """What a file's name says about which run it belongs to."""
    parts = name.lower().split(".")
    while len(parts) > 1 and (parts[-1] in _SUFFIXES or parts[-1].isdecimal()):
        parts.pop()
    tokens = re.split(r"[^a-z0-9]+", ".".join(parts))
    kept = [token for token in tokens if token and not _PART.fullmatch(token)]
    words = [word for token in kept for word in _WORD.findall(token)]
    # `rank 3`, `stage 2`: the number belongs to the word before it.
    return tuple(
        word
        for place, word in enumerate(words)
        if word not in _PART_WORDS and not (word.isdecimal() and place and words[place - 1] in _PART_WORDS)
    )


def _rivals(one: _Files, other: _Files) -> bool:
    """Whether two groups of files are two runs."""
    same_pattern = one.pattern == other.pattern and any(word.isdecimal() for word in one.words)
    if not one.series or not other.series:
        # A job that died before it logged anything, beside one that did not.
        died = one if not one.series else other
        return same_pattern and one.logs and other.logs and bool(died.errors) and bool(one.series or other.series)
    common = one.names & other.names
    alike = len(common) / len(one.names | other.names)
    if alike < _ALIKE or not (same_pattern or (one.logs and other.logs)):
        return False
    compared = [
        (row, beside)
        for row in one.series
        for beside in other.series
        if row.name == beside.name and row.axis == beside.axis and min(len(row), len(beside)) >= _FEWEST
    ]
    return any(_from_the_start(*pair) for pair in compared)


def _from_the_start(one: Series, other: Series) -> bool:
    """Whether both count from about the same place, rather than one going on where the other ends."""
    span = max(float(one.at[-1] - one.at[0]), float(other.at[-1] - other.at[0]))
    return abs(float(one.at[0] - other.at[0])) <= 0.1 * span


def _label(group: _Files) -> str:
    return min((file.path for file in group.files), key=lambda path: (path.count("/"), len(path), path))


def judged(path: str, series: Sequence[Series], errors: Iterable[LogError]) -> RunSummary:
    """How one of several runs went, at a glance."""
    from traindx.detectors.citing import where
    from traindx.detectors.curves.loss import main_loss  # brings numpy along, which only the worker needs
    from traindx.detectors.curves.shape import shape_of

    error = next((row for row in errors if row.kind == "error"), None)
    if error is not None:
        return RunSummary(path=path, failed=True, why=f"{error.text} ({error.source}:{error.line})")
    loss = main_loss(series)
    if loss is None:
        return RunSummary(path=path, failed=False, why="no loss was logged")
    shape = shape_of(loss.values)
    if shape.broke is not None:
        return RunSummary(path=path, failed=True, why=f"the loss breaks at {where(loss, shape.broke)}")
    last = len(loss) - 1
    return RunSummary(path=path, failed=False, why=f"loss {loss.values[last]:.4g} at {where(loss, last)}")
