"""Lines of a machine's kernel log that are about processes of other users: a machine is shared, its log is one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from traindx.readers.model import LogError

_KERNEL = re.compile(r"^\S{0,20}\s?\[[^\]]{1,40}\]\s|\bkernel: |\bNVRM: |^oom-kill:|^Out of memory: |^Memory cgroup ")
_NAMED = (
    re.compile(r"\btask=(?P<name>[^,\s]{1,64}),pid=(?P<pid>\d+)"),
    re.compile(r"\bpid='?(?P<pid>\d+)'?, name=(?P<name>[^,\s]{1,64})"),
    re.compile(r"\bKill(?:ed)? process (?P<pid>\d+),? \((?P<name>[^)]{1,64})\)"),
)
_OF_A_JOB = re.compile(r"slurm|/job|docker|kubepods|containerd|libpod|lxc|/pbs|condor|\.scope", re.IGNORECASE)
# What trains, loads data or carries a job; kernels cut names at fifteen characters.
_TRAINS = re.compile(
    r"python|^py|^pt_|torch|ray|train|accelerate|deepspeed|vllm|sglang|jupyter|ipykernel|conda|colab|slurm|srun|mpi"
    r"|orted|bash|^sh$|node$|worker|loader|java|julia|caffe|darknet|xgboost|lightgbm|llama|megatron|jax|tensorflow|^\./",
    re.IGNORECASE,
)


def of_others(rows: Iterable[LogError]) -> frozenset[int]:
    """The rows (by identity) of a kernel that name a process which trains nothing, in no job's group."""
    told = [(row, found) for row in rows if _KERNEL.search(row.text[:400]) and (found := _named(row.text)) is not None]
    jobs = {found["pid"] for row, found in told if _OF_A_JOB.search(row.text)}
    return frozenset(id(row) for row, found in told if not _TRAINS.search(found["name"]) and found["pid"] not in jobs)


def _named(text: str) -> re.Match[str] | None:
    return next((found for one in _NAMED if (found := one.search(text[:2_000])) is not None), None)
