"""Ranks of one job compared, and how a log ends: what must be said, and what must not."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from tests.tools.signal_case import Case, case, check, falling, log, losses

RANKS = "compare_ranks"
ENDING = "check_ending"


def timeout(rank: int, sequence: int = 912, operation: str = "ALLREDUCE", size: int = 4096) -> str:
    return (
        f"[rank{rank}]:[E419 10:42:28.85{rank}931807 ProcessGroupNCCL.cpp:616] [Rank {rank}] Watchdog caught collective"
        f" operation timeout: WorkNCCL(SeqNum={sequence}, OpType={operation}, NumelIn={size}, NumelOut={size},"
        " Timeout(ms)=600000) ran for 600021 milliseconds before timing out."
    )


def status(rank: int, enqueued: int, completed: int) -> str:
    return (
        f"[rank{rank}]:[E419 10:42:29.13{rank}967180 ProcessGroupNCCL.cpp:1785]"
        f" [PG ID 0 PG GUID 0(default_pg) Rank {rank}] Exception (either an error or timeout) detected by watchdog at"
        f" work: 912, last enqueued NCCL work: {enqueued}, last completed NCCL work: {completed}."
    )


def steps(ranks: int, count: int = 30, slow: int = -1, stops: int = -1, every: int = 1) -> list[str]:
    """A log in which every rank tells its step and its time; one may be slow, one may stop."""
    curve = falling(count)
    return [
        f"[rank{rank}] step {step * every} loss {curve[step]:.4f}"
        f" forward_time {0.4 + 0.01 * ((step + rank) % 3) + (0.4 if rank == slow else 0):.3f}s"
        for step in range(count)
        for rank in range(ranks)
        if not (rank == stops and step > count // 2)
    ]


def paced(ranks: int, since: int, until: int = 999, measure: str = "compute") -> list[str]:
    """A log whose lines begin with the bare number of a rank; from one step on rank 4 needs three times as long."""
    lines = []
    for step in range(120):
        late = since <= step < until
        for rank in range(ranks):
            took = 210 + 3 * ((step + rank) % 4) + (430 if late and rank == 4 else 0)
            waits = (8 if rank == 4 or not late else 440) + (step + rank) % 3
            lines.append(f"[{rank}] it {step} {measure} {waits if 'wait' in measure else took} ms | other 12 ms")
    return lines


def by_rank(measure: str, slow: float, whole: str = "t_step") -> dict[str, str]:
    """One file of records for each rank; rank 2 needs longer for a part of the step, and all wait for it."""
    files = {}
    for rank in range(4):
        rows = []
        for step in range(60):
            part = slow if rank == 2 else 0.0005 + 0.0001 * ((step + rank) % 3)
            rows.append(
                {"step": step, "loss": round(falling(60)[step], 4), measure: part, whole: slow + 0.1 + 0.001 * rank}
            )
        files[f"logs/rank{rank}.jsonl"] = "".join(json.dumps(row) + "\n" for row in rows)
    return files


def dump(rank: int, enqueued: int, completed: int, plain: bool = False) -> bytes:
    entries = [
        {
            "pg_id": 0,
            "collective_seq_id": number,
            "profiling_name": "nccl:all_reduce",
            "state": "completed" if number <= completed else "scheduled",
            "input_sizes": [[1024, 4]],
            "timeout_ms": 600000,
            "frames": [{"name": "main", "filename": "train.py", "line": 41}],
        }
        for number in range(max(1, enqueued - 3), enqueued + 1)
    ]
    whole = {
        "version": "2.4",
        "pg_config": {"0": {"name": "default", "ranks": "[0, 1, 2, 3]"}},
        "pg_status": {"0": {"last_enqueued_collective": enqueued, "last_completed_collective": completed}},
        "entries": entries,
    }
    return json.dumps(whole).encode() if plain else pickle.dumps(whole, protocol=4)


def stack(rank: int, inner: str) -> str:
    return (
        f"Process {4000 + rank}: python train.py\nPython v3.11.7 (/usr/bin/python3.11)\n\n"
        f'Thread 0x7F{rank} (active): "MainThread"\n{inner}    main (train.py:88)\n'
        'Thread 0x7E (idle): "Thread-1"\n    wait (threading.py:320)\n'
    )


REDUCING = "    all_reduce (torch/distributed/distributed_c10d.py:2501)\n    step (train.py:61)\n"
LOADING = "    read (shards.py:17)\n    __getitem__ (shards.py:30)\n    next_batch (train.py:44)\n"


def clocked(minutes: list[int], tail: list[str]) -> dict[str, str]:
    """A log with a time before every step, one step at each of these minutes."""
    curve = falling(len(minutes))
    rows = [
        f"2026-05-02 {9 + at // 60:02d}:{at % 60:02d}:00 INFO step {step * 10}/5000 loss {curve[step]:.4f}"
        for step, at in enumerate(minutes)
    ]
    return log([*rows, *tail])


CANCELLED = "slurmstepd: error: *** JOB 4711 ON gpu07 CANCELLED AT 2026-05-02T{} DUE TO TIME LIMIT ***"
INTERRUPT = (
    "Traceback (most recent call last):\n"
    '  File "/home/u/train.py", line 40, in <module>\n    for batch in loader:\n'
    '  File "/env/lib/python3.11/site-packages/torch/utils/data/dataloader.py", line 1310, in _try_get_data\n'
    "    data = self._data_queue.get(timeout=timeout)\n"
    '  File "/env/lib/python3.11/multiprocessing/queues.py", line 113, in get\n    if not self._poll(timeout):\n'
    "KeyboardInterrupt"
)

EPOCHS = (
    "".join(
        f"2026-05-02 09:00:{4 * n:02d} INFO Epoch {n}/10\n2026-05-02 09:00:{4 * n + 2:02d} INFO loss {2.0 / n:.4f}\n"
        for n in range(1, 9)
    )
    + "2026-05-02 09:00:36 INFO Epoch {last}/10\n2026-05-02 09:00:38 INFO loss 0.2100\n"
)
CASES: list[Case] = [
    case(
        RANKS,
        "the rank that had nothing under way",
        log(
            [
                *losses(5),
                *(timeout(r) for r in (0, 1, 3)),
                *(status(r, 913, 911) for r in (0, 1, 3)),
                status(2, 911, 911),
            ]
        ),
        fires="rank-never-entered",
        silent="collectives-differ ranks-all-waited",
    ),
    case(
        RANKS,
        "the rank that was told by another, and had nothing under way",
        log(
            [
                *losses(5),
                *(timeout(r) for r in (0, 1, 3)),
                *(status(r, 913, 911) for r in (0, 1, 3)),
                status(2, 911, 911).replace("Exception", "Observed flight recorder dump signal from another rank:"),
            ]
        ),
        fires="rank-never-entered",
    ),
    case(
        RANKS,
        "all ranks wait in the same collective",
        log([*losses(5), *(timeout(r) for r in range(4)), *(status(r, 913, 911) for r in range(4))]),
        fires="ranks-all-waited",
        silent="rank-never-entered collectives-differ",
    ),
    case(
        RANKS,
        "one rank waits in another operation",
        log([*losses(5), *(timeout(r) for r in (0, 1, 2)), timeout(3, operation="BROADCAST")]),
        fires="collectives-differ",
        silent="rank-never-entered",
    ),
    case(
        RANKS,
        "the rank that reports nothing",
        log([*steps(4, 6), *(timeout(r) for r in (0, 2, 3))]),
        fires="rank-never-entered",
    ),
    case(
        RANKS,
        "the rank that failed by itself is told of by its error",
        log(
            [
                *steps(4, 6),
                "[rank1] Traceback (most recent call last):",
                '[rank1]   File "train.py", line 30, in <module>',
                "[rank1]     main()",
                "[rank1] FileNotFoundError: [Errno 2] No such file or directory: '/data/shard-7.bin'",
                *(timeout(r) for r in (0, 2, 3)),
            ]
        ),
        silent="rank-never-entered ranks-all-waited",
    ),
    case(
        RANKS,
        "flight recorders, pickled",
        {f"nccl_trace_rank_{r}": dump(r, 911 if r == 1 else 912, 911) for r in range(4)},
        fires="rank-never-entered",
    ),
    case(
        RANKS,
        "flight recorders as JSON, all in the same place",
        {f"fr/nccl_trace_rank_{r}.json": dump(r, 912, 911, plain=True) for r in range(4)},
        fires="ranks-all-waited",
        silent="rank-never-entered",
    ),
    case(
        RANKS,
        "stacks: one rank reads while the others reduce",
        {f"stacks/rank{r}.txt": stack(r, LOADING if r == 5 else REDUCING) for r in range(8)} | log(losses(5)),
        fires="stack-outlier",
        silent="stacks-all-wait",
    ),
    case(
        RANKS,
        "stacks: all the same",
        {f"stacks/rank{r}.txt": stack(r, REDUCING) for r in range(8)} | log(losses(5)),
        fires="stacks-all-wait",
        silent="stack-outlier",
    ),
    case(RANKS, "one rank is slow at every step", log(steps(4, slow=2)), fires="rank-slower"),
    case(RANKS, "one rank slows down late", log(paced(6, since=70)), fires="rank-slower"),
    *(
        case(RANKS, f"one rank reads for long: {name}", by_rank(name, 0.3), fires="rank-slower")
        for name in ("t_data", "dt_load", "data_time", "t/fetch")
    ),
    case(
        RANKS, "one rank reads for twice as long, and that is nothing", by_rank("t_data", 0.0012), silent="rank-slower"
    ),
    case(RANKS, "a number whose name begins like a time", by_rank("t_mean", 0.3, "temp"), silent="rank-slower"),
    case(RANKS, "one rank was slow for a while", log(paced(6, since=30, until=60)), silent="rank-slower"),
    case(
        RANKS, "one rank never waits, all others do", log(paced(6, since=70, measure="sync-wait")), fires="rank-slower"
    ),
    case(RANKS, "all wait alike", log(paced(6, since=999, measure="sync-wait")), silent="rank-slower"),
    case(RANKS, "ranks that differ by a little", log(steps(4)), silent="rank-slower rank-stopped-first"),
    case(RANKS, "one rank stops in the middle", log(steps(4, stops=3)), fires="rank-stopped-first"),
    case(
        ENDING,
        "hours between the last step and the time limit",
        clocked(list(range(30)), [CANCELLED.format("15:00:12")]),
        fires="silence-before-end",
        silent="stopped-short",
    ),
    case(
        ENDING,
        "started anew an hour after its last epoch",
        {"train.log": EPOCHS.format(last=10) + "2026-05-02 11:00:00 INFO loading the data\n"},
        silent="silence-before-end",
    ),
    case(
        ENDING,
        "the next line an hour after the eighth epoch of ten",
        {"train.log": EPOCHS.format(last=8) + CANCELLED.format("11:00:12") + "\n"},
        fires="silence-before-end",
    ),
    case(
        ENDING,
        "the time limit comes shortly after a step",
        clocked(list(range(30)), [CANCELLED.format("09:30:12")]),
        silent="silence-before-end alive-without-progress",
    ),
    case(
        ENDING,
        "an evaluation takes its time, as it did before",
        clocked([*range(10), *range(40, 50), *range(80, 90)], [CANCELLED.format("10:58:12")]),
        silent="silence-before-end",
    ),
    case(
        ENDING,
        "heartbeats without a step",
        clocked(
            list(range(30)), [f"2026-05-02 {10 + n // 2}:{30 * (n % 2):02d}:00 INFO heartbeat ok" for n in range(8)]
        ),
        fires="alive-without-progress",
    ),
    case(
        ENDING,
        "another process fell, and this one waited for it",
        {
            **clocked(list(range(30)), [CANCELLED.format("15:00:12")]),
            "rank7.err": 'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\nKeyError: 1\n',
        },
        silent="silence-before-end alive-without-progress",
    ),
    case(ENDING, "the log stops in the middle", clocked(list(range(30)), []), fires="stopped-short"),
    case(
        ENDING,
        "the run says that it is over",
        clocked(list(range(30)), ["2026-05-02 09:31:00 INFO training finished"]),
        silent="stopped-short log-stops silence-before-end",
    ),
    case(ENDING, "no plan is known", log(losses(30)), fires="log-stops", silent="stopped-short"),
    case(
        ENDING,
        "an error ended it",
        log([*losses(30), 'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\nValueError: no']),
        silent="log-stops stopped-short",
    ),
    case(
        ENDING, "nothing was logged yet", log(["loading data", "building model", "starting workers"]), fires="log-stops"
    ),
    case(ENDING, "interrupted in a queue", log([*losses(9), INTERRUPT]), fires="interrupted-while-waiting"),
    case(
        ENDING,
        "interrupted in a step",
        log([*losses(9), INTERRUPT.replace("queues.py", "model.py").replace("dataloader.py", "linear.py")]),
        silent="interrupted-while-waiting",
    ),
]


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_ranks_and_endings(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
