"""From a log to the first cause: what ended the run stands first, and what it survived is no cause."""

from __future__ import annotations

from pathlib import Path

import pytest

from traindx import diagnose

_RAISED = 'Traceback (most recent call last):\n  File "/home/u/train.py", line 3, in <module>\n    main()\n'


def _flat(points: int) -> list[str]:
    return [f"step {n} loss {2.3026 + 0.0004 * (-1) ** n:.4f} lr 1e-07" for n in range(points)]


def _falling(points: int) -> list[str]:
    return [f"step {n} loss {0.3 + 2 * 0.9**n:.4f}" for n in range(points)]


def _first(folder: Path, lines: list[str]) -> tuple[str, str]:
    (folder / "train.log").write_text("\n".join(lines) + "\n")
    found = diagnose(folder, brain="local")
    return found.status, found.root_causes[0].id if found.root_causes else ""


@pytest.mark.slow
def test_what_ended_the_run_stands_before_a_poor_curve(tmp_path: Path) -> None:
    oom = _RAISED + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
    assert _first(tmp_path, [*_flat(200), oom]) == ("diagnosis_complete", "cuda-out-of-memory")


@pytest.mark.slow
@pytest.mark.parametrize("message", ["torch.OutOfMemoryError: CUDA out of memory.", "ValueError: broken sample 17"])
def test_what_the_run_survived_is_no_cause(tmp_path: Path, message: str) -> None:
    lines = _falling(200)
    assert _first(tmp_path, [*lines[:90], _RAISED + message, *lines[90:]])[0] == "healthy"
    assert _first(tmp_path, [*lines, _RAISED + message])[0] == "diagnosis_complete"


@pytest.mark.slow
def test_a_bare_kill_is_a_lead_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("\n".join([*_falling(200), "Killed"]) + "\n")
    found = diagnose(tmp_path, brain="local")
    assert all(cause.confidence <= 0.8 for cause in found.root_causes if cause.id == "host-out-of-memory")


@pytest.mark.slow
def test_the_rank_that_failed_first_is_named(tmp_path: Path) -> None:
    steps = [f"[rank{rank}]: {line}" for line in _falling(100) for rank in range(8)]
    oom = _RAISED + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
    waited = "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8, OpType=ALLREDUCE, Timeout(ms)=600000)"
    failed = [f"[rank5]: {line}" for line in oom.splitlines()]
    late = [f"[rank{rank}]:[E101 02:13:10 ProcessGroupNCCL.cpp:632] [Rank {rank}] {waited}" for rank in (0, 1, 2)]
    (tmp_path / "train.log").write_text("\n".join([*steps, *failed, *late]) + "\n")
    cause = diagnose(tmp_path, brain="local").root_causes[0]
    assert cause.id == "cuda-out-of-memory"
    assert "rank 5" in cause.issue
    assert "on rank 5" in cause.evidence[0].claim
    assert cause.evidence[0].verified
