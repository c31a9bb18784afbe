"""Flight recorders and stacks are read for what they say, whatever else is in them."""

from __future__ import annotations

import io
import json
import os
import pickle
from pathlib import Path

import pytest

from tests.tools.test_signals_ranks import REDUCING, dump, stack
from traindx.readers import Run, Scope
from traindx.readers.traces.flight import LARGEST, read_flight
from traindx.readers.traces.stacks import read_stacks


class _Runs:
    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (self.command,)


def flight(data: bytes, path: str = "nccl_trace_rank_3") -> tuple[list[str], list[str]]:
    rows, remarks = read_flight(io.BytesIO(data), path, len(data))
    return [row.text for row in rows], remarks


@pytest.mark.parametrize("plain", [True, False], ids=["JSON", "pickle"])
def test_a_dump_tells_how_far_its_rank_came(plain: bool) -> None:
    texts, remarks = flight(dump(3, 912, 911, plain))
    assert texts[0] == "[PG ID 0 Rank 3] last enqueued work: 912, last completed work: 911"
    assert texts[1].startswith("[PG ID 0 Rank 3] in WorkNCCL(SeqNum=912, OpType=ALLREDUCE, NumelIn=4096,")
    assert remarks == []


def test_a_dump_without_states_is_read_from_its_entries() -> None:
    whole = json.loads(dump(3, 912, 911, plain=True))
    del whole["pg_status"]
    assert flight(json.dumps(whole).encode())[0][0].endswith("last enqueued work: 912, last completed work: 911")


def test_nothing_in_a_dump_is_run(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    hostile = pickle.dumps({"version": "2", "pg_config": {}, "entries": [_Runs(f"touch {marker}")]})
    assert flight(hostile) == ([], [])
    (tmp_path / "nccl_trace_rank_0").write_bytes(hostile)
    assert Run(Scope.of(tmp_path)).flights == []
    assert not marker.exists()


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[1, 2]", dump(0, 9, 8)[:40], b"\x80\x04K", json.dumps({"entries": 7, "pg_status": [1]}).encode(),
     json.dumps({"entries": [{"state": "started", "frames": 3, "input_sizes": "x"}]}).encode()],
)  # fmt: skip
def test_a_damaged_dump_is_no_surprise(data: bytes) -> None:
    texts, remarks = flight(data)
    assert isinstance(texts, list)
    assert isinstance(remarks, list)


def test_a_huge_dump_is_refused_with_a_sentence() -> None:
    assert "not read" in read_flight(io.BytesIO(b"{"), "rank_0", LARGEST + 1)[1][0]


def test_stacks_of_one_file_are_told_apart_by_their_headings() -> None:
    text = "".join(f"=== rank {rank} ===\n{stack(rank, REDUCING)}" for rank in range(3))
    found = read_stacks(text, "dump.txt")
    assert [row.process for row in found] == ["rank 0", "rank 1", "rank 2"]
    assert found[0].frames[0].function == "all_reduce"


def test_the_main_thread_is_the_last_that_faulthandler_prints() -> None:
    text = (
        "Thread 0x00007f01 (most recent call first):\n"
        '  File "/usr/lib/python3.11/threading.py", line 320 in wait\n\n'
        "Current thread 0x00007f02 (most recent call first):\n"
        '  File "/home/u/train.py", line 61 in step\n  File "/home/u/train.py", line 88 in <module>\n'
    )
    (found,) = read_stacks(text, "rank2.err")
    assert (found.process, found.frames[0].function, found.text) == (
        "rank 2",
        "step",
        'File "/home/u/train.py", line 61 in step',
    )
