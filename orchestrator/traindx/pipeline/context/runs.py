"""Several runs in what was given to look at: sibling folders, or logs side by side in one folder.

Files of one run are told from files of several by what they hold: two runs measure the same things from the start,
each for itself. Parts of one run do not: a phase, a rank, a stage, a stream of output, a job that goes on where another
ended.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import PurePosixPath

from traindx.contract import RunSummary
from traindx.readers.model import LogError, RunFile, Series

MOST_RUNS = 2_000
MOST_COMPARED = 400
"""logs of one folder that are compared with each other"""
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
_OF_RANKS = frozenset(["rank", "worker", "proc", "process", "node"])
"""words whose number tells the processes of one job apart: `rank_03.jsonl`"""
_SUFFIXES = frozenset([
    "log", "out", "err", "txt", "csv", "tsv", "json", "jsonl", "ndjson", "stdout", "stderr", "gz", "md",
])  # fmt: skip
_STREAM = re.compile(r"(?:stdout|stderr|error)\.(?:log|json|txt)")
_ATTEMPT = re.compile(r"attempt_\d+")
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
    found = _Tree(files, series, errors).runs(PurePosixPath())
    return [judged(one.path, one.group.series, one.group.errors, one.own) for one in found[:MOST_RUNS]]


@dataclass(frozen=True)
class _Found:
    """A run: a folder, or some of the files in one (`own`)."""

    path: str
    group: _Files
    own: tuple[str, ...] = ()


class _Tree:
    """The files that tell how a run went, by folder."""

    def __init__(self, files: Sequence[RunFile], series: Sequence[Series], errors: Sequence[LogError]) -> None:
        self._files: dict[PurePosixPath, list[RunFile]] = defaultdict(list)
        self._folders: dict[PurePosixPath, set[PurePosixPath]] = defaultdict(set)
        self._series: dict[str, list[Series]] = defaultdict(list)
        self._errors: dict[str, list[LogError]] = defaultdict(list)
        for file in files:
            if file.role in _TELLING and file.size:
                path = PurePosixPath(file.path)
                self._files[path.parent].append(file)
                for folder in path.parents[:-1]:
                    self._folders[folder.parent].add(folder)
        for row in series:
            if len(row):
                self._series[row.source].append(row)
        for error in errors:
            if error.kind == "error":
                self._errors[error.source].append(error)

    def runs(self, folder: PurePosixPath) -> list[_Found]:
        """The runs in a folder; none where it is one."""
        inside = {child: self.runs(child) for child in sorted(self._folders[folder])}
        several = any(inside.values())
        if self._files[folder]:
            beside = self._side_by_side(folder)
            if not beside and not several:
                return []
            own = beside or self._top(folder)
            return [*own, *(one for found in inside.values() for one in found)]
        children = [child for child in inside if not _PART.fullmatch(child.name.lower())]
        if self._of_ranks(children):
            return []
        if several or (len(children) > 1 and self._repeat(children)):
            whole = [child for child in children if self._below(child).series or self._below(child).errors]
            return [one for child in children for one in inside[child] or self._one(child, whole)]
        return []

    def _one(self, folder: PurePosixPath, whole: Sequence[PurePosixPath]) -> list[_Found]:
        return [_Found(folder.as_posix(), self._below(folder))] if folder in whole else []

    def _top(self, folder: PurePosixPath) -> list[_Found]:
        """The files of a folder that holds runs besides, where they tell of a run themselves."""
        files = self._files[folder]
        group = self._of(files, ())
        names = tuple(file.path for file in files)
        return [_Found(_label(group), group, names)] if group.series else []

    def _side_by_side(self, folder: PurePosixPath) -> list[_Found]:
        """Logs in one folder that are runs of their own."""
        by_words: dict[tuple[str, ...], list[RunFile]] = defaultdict(list)
        for file in self._files[folder]:
            by_words[_words(PurePosixPath(file.path).name)].append(file)
        groups = [self._of(files, words) for words, files in by_words.items()]
        for group in groups:
            # A run often logs to two places.
            group.series = [row for row in group.series if not row.duplicate_of]
        rivals = {id(one) for pair in combinations(groups[:MOST_COMPARED], 2) if _rivals(*pair) for one in pair}
        return [
            _Found(_label(group), group, tuple(file.path for file in group.files))
            for group in groups
            if id(group) in rivals
        ]

    def _of(self, files: Sequence[RunFile], words: tuple[str, ...]) -> _Files:
        series = [row for file in files for row in self._series[file.path]]
        return _Files(words, list(files), series, [row for file in files for row in self._errors[file.path]])

    def _below(self, folder: PurePosixPath) -> _Files:
        return self._of(
            [file for path, files in self._files.items() if folder in (path, *path.parents) for file in files], ()
        )

    def _of_ranks(self, folders: Sequence[PurePosixPath]) -> bool:
        """Whether the folders are a launcher's, one for the output of each rank: `logs/0/stderr.log`.

        They are numbered from nought on and hold streams only; the attempt above them, what the launcher says, or the
        ranks before their own lines tell them from runs by number.
        """
        if len(folders) < 2 or {child.name for child in folders} != {str(rank) for rank in range(len(folders))}:
            return False
        below = {child: self._below(child) for child in folders}
        if not all(_STREAM.fullmatch(PurePosixPath(file.path).name) for one in below.values() for file in one.files):
            return False
        named = any(row.rank == int(child.name) for child, one in below.items() for row in one.errors)
        others = any(row.rank not in {None, int(child.name)} for child, one in below.items() for row in one.errors)
        launched = any("ChildFailedError" in row.text for rows in self._errors.values() for row in rows)
        attempt = all(_ATTEMPT.fullmatch(child.parent.name) for child in folders)
        return not others and (named or launched or attempt)

    def _repeat(self, folders: Sequence[PurePosixPath]) -> bool:
        """Whether the folders repeat each other's file names."""
        names = [
            name
            for folder in folders
            for name in {
                re.sub(r"\d+", "0", PurePosixPath(file.path).relative_to(folder).as_posix())
                for file in self._below(folder).files
            }
        ]
        return len(names) > len(set(names))


def _words(name: str) -> tuple[str, ...]:
    """What a file's name says about which run it belongs to."""
    parts = name.lower().split(".")
    while len(parts) > 1 and (parts[-1] in _SUFFIXES or parts[-1].isdecimal()):
        parts.pop()
    tokens = re.split(r"[^a-z0-9]+", ".".join(parts))
    kept = [
        token
        for place, token in enumerate(tokens)
        if token and not _PART.fullmatch(token) and not (token.isdecimal() and place and tokens[place - 1] in _OF_RANKS)
    ]
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


def judged(path: str, series: Sequence[Series], errors: Sequence[LogError], own: Sequence[str] = ()) -> RunSummary:
    """How one of several runs went, at a glance; `own` are its files, where it shares a folder with others."""
    from traindx.detectors.citing import where
    from traindx.detectors.curves.loss import main_loss  # brings numpy along, which only the worker needs
    from traindx.detectors.curves.shape import shape_of

    if errors:
        failed, why = True, f"{errors[0].text} ({errors[0].source}:{errors[0].line})"
    elif (loss := main_loss(series)) is None:
        failed, why = False, "no loss was logged"
    elif (broke := shape_of(loss.values).broke) is not None:
        failed, why = True, f"the loss breaks at {where(loss, broke)}"
    else:
        failed, why = False, f"loss {loss.values[-1]:.4g} at {where(loss, len(loss) - 1)}"
    return RunSummary(path=path, failed=failed, why=why, files=list(own))
