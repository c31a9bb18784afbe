"""Which process of a distributed job wrote a file or a line, and which launcher started it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import BinaryIO

from traindx.readers.logs.lines import blocks
from traindx.vocabulary.prefixes import PREFIX, RANK

_HEAD = 256 << 10
_MOST_RANKS = 100_000
_IN_NAME = re.compile(
    r"(?:^|[^a-z])(?P<kind>rank|local_rank|worker|proc|process|gpu|task|node|host)[-_.= ]?(?P<number>\d{1,6})(?!\d)",
    re.IGNORECASE,
)
# torchrun --log-dir writes attempt_0/3/stderr.log; older releases `<rank>/stdout.log`.
_IN_FOLDERS = re.compile(r"(?:^|/)(?:attempt_\d+/)?(?P<number>\d{1,6})/(?:stdout|stderr|error)\.(?:log|json|txt)$")
_BARE = re.compile(r"(?:^|/)(?P<number>\d{1,4})\.(?:err|out|log|stderr|stdout)$")
_SLURM = re.compile(
    r"(?:^|/)(?:slurm|[\w-]*?job|[\w.-]+?)[-_.](?P<job>\d{4,12})(?:[-_.](?P<array>\d{1,6}))?\.(?:out|err|log)$",
    re.IGNORECASE,
)
_PREFIXES = re.compile(
    r"^\s{0,4}(?:\x1b\[[\d;]*m)?(?:\[(?:default|rank|Rank|RANK)[ :=_]?(?P<a>\d{1,6})\]:?|\[rank: (?P<b>\d{1,6})\]"
    r"|(?:rank|Rank|RANK)[ :=]{0,2}(?P<c>\d{1,6})\s?[\]:|>]|(?P<d>\d{1,5}): (?=\S)|\[1,(?P<e>\d{1,6})\]<std(?:out|err)>"
    r"|\[(?P<f>\d{1,5})\]:(?=\s*\S))",
    re.MULTILINE,
)
# What `srun --label` and `pdsh` put before a line, once it is known that they do: elsewhere a number says nothing.
LABEL = re.compile(r" {0,5}(?:([0-9]{1,5})(?:: ?| ?\| )|\[ {0,3}([0-9]{1,5})\]:? ?)")
_LABEL = re.compile(LABEL.pattern.encode())
_LAUNCHERS = (
    ("torchrun", re.compile(r"torch[./]distributed[./](?:elastic|run|launch)|\btorchrun\b|ChildFailedError")),
    ("accelerate", re.compile(r"accelerate[./]commands[./]launch|\baccelerate launch\b")),
    ("deepspeed", re.compile(r"\[launch\.py:\d+|\[runner\.py:\d+|deepspeed[./]launcher")),
    ("slurm", re.compile(r"^slurmstepd: |^srun: |SLURM_JOB_ID|CANCELLED AT|^sbatch: ", re.MULTILINE)),
    ("ray", re.compile(r"\((?:RayTrainWorker|TrainController|raylet|pid=\d+)[^)\n]{0,60}\)")),
    ("mpirun", re.compile(r"\bmpirun\b|MPI_ABORT|\[1,\d+\]<std(?:out|err)>")),
)


@dataclass(frozen=True)
class Rank:
    """The process that a file belongs to, as its name says."""

    path: str
    number: int
    kind: str = "rank"
    """`rank`, `worker`, `node`, …: what the number counts"""


@dataclass(frozen=True)
class ClusterFacts:
    """What a log tells about the job that wrote it."""

    path: str
    rank: Rank | None = None
    job: str = ""
    """slurm's number of the job"""
    ranks: tuple[int, ...] = ()
    """the processes whose lines are mixed in the file"""
    launchers: tuple[str, ...] = ()


def rank_in_name(path: str) -> Rank | None:
    """The process that a file's name or folder speaks of."""
    folders = _IN_FOLDERS.search(path)
    if folders:
        return Rank(path, int(folders["number"]))
    for part in reversed(path.split("/")):
        named = list(_IN_NAME.finditer(part))
        told = next((found for found in named if "rank" in found["kind"].lower()), named[0] if named else None)
        if told:
            kind = told["kind"].lower()
            return Rank(path, int(told["number"]), "rank" if kind in {"rank", "proc", "process", "task"} else kind)
    bare = _BARE.search(path)
    return Rank(path, int(bare["number"]), "process") if bare else None


def job_in_name(path: str) -> int | None:
    """The scheduler's number of the job that wrote a file, as its name says."""
    found = _SLURM.search(path)
    return int(found["job"]) if found else None


def read_cluster(handle: BinaryIO, path: str) -> ClusterFacts:
    """Rank, job, mixed ranks and launcher of a log, from its name and its first lines."""
    text = "".join(text for _, text in blocks(handle, _HEAD))
    job = _SLURM.search(path)
    return ClusterFacts(
        path=path,
        rank=rank_in_name(path),
        job=job["job"] if job else "",
        ranks=ranks_in(text),
        launchers=tuple(name for name, sign in _LAUNCHERS if sign.search(text)),
    )


def labels_ranks(data: bytes) -> bool:
    """Whether a launcher labelled the lines: nearly all begin with a number that goes up and down, from nought."""
    lines = [line for line in data[:_HEAD].split(b"\n") if line.strip()]
    if not any(map(_LABEL.match, lines[: len(lines) // 5 + 1])):
        return False
    told = [int(found[1] or found[2]) for line in lines if (found := _LABEL.match(line))]
    # The number of an epoch goes up; that of a rank comes back as often as the ranks take turns.
    back = sum(later < earlier for earlier, later in pairwise(told))
    ranks = set(told)
    return len(told) > 0.8 * len(lines) and 0 in ranks and 1 < len(ranks) <= back + 1 and max(ranks) < 4 * len(ranks)


def prefix_of(line: str, labelled: bool = False) -> tuple[int, int, int]:
    """Where the prefix of a line ends, the rank that speaks (-1 for none), and where in the line that number begins.

    In a `labelled` log a number before the prefix is a rank.
    """
    label = LABEL.match(line) if labelled else None
    begin = label.end() if label else 0
    prefix = PREFIX.match(line, begin)
    end = prefix.end() if prefix else begin
    if label:
        group = 1 if label[1] else 2
        return end, int(label[group]), label.start(group)
    told = RANK.search(line, 0, end) if end else None
    return (end, int(told[1]), told.start(1)) if told else (end, -1, -1)


def ranks_in(text: str) -> tuple[int, ...]:
    """The ranks whose prefixes stand before lines; one prefix on one line is not enough for the bare `0: ` of srun."""
    sure: set[int] = set()
    bare: dict[int, int] = {}
    for found in _PREFIXES.finditer(text):
        number = int(next(group for group in found.groups() if group is not None))
        if found["d"] is not None or found["f"] is not None:
            bare[number] = bare.get(number, 0) + 1
        elif number < _MOST_RANKS:
            sure.add(number)
    lines = text.count("\n") + 1
    if not sure and len(bare) > 1 and sum(bare.values()) > 0.5 * lines and max(bare) < 4 * len(bare):
        sure = set(bare)
    return tuple(sorted(sure))
