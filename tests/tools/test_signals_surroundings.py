"""What stands beside a run: other users' processes, other attempts, other ranks, rows and paths of the data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from tests.tools.signal_case import Case, case, check, falling, log, losses, table
from traindx.pipeline.context.runs import several_runs
from traindx.readers import Run, Scope

ERRORS, DATA, RANKS, PACE = "explain_error", "inspect_data", "compare_ranks", "check_throughput"
CURVE, CHANGES = "analyze_loss_curve", "compare_metrics"
KILLED = "[Mon May  4 03:10:00 2026] Memory cgroup out of memory: Killed process 4711 ({}) total-vm:90kB, UID:1200"
GROUP = "[Mon May  4 03:10:00 2026] oom-kill:constraint=CONSTRAINT_MEMCG,task_memcg={},task={},pid=4711,uid=1200"
DIED = "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task."
PRESSURE = (
    "(raylet) [2026-05-11 02:11:40,119 E 4411 4411] (raylet) node_manager.cc:3065: 1 Workers (tasks / actors) killed"
    " due to memory pressure (OOM), 0 Workers crashed due to other reasons at node (ID: 7a, IP: 10.0.0.7)"
)


def npy(values: np.ndarray) -> bytes:
    held = BytesIO()
    np.save(held, values)
    return held.getvalue()


def beside(*lines: str) -> dict[str, str]:
    return {**log(losses(20)), "dmesg.txt": "\n".join(lines) + "\n"}


def attempts(*between: str, end: str = DIED) -> dict[str, str]:
    return log([*losses(20), *between, DIED, "taking up epoch 15", *losses(30)[14:], end])


def flat(share: float, width: int = 32) -> np.ndarray:
    made = np.random.default_rng(3).normal(size=(200, width))
    made[: int(share * 200)] = 0.0
    return made


def noisy(held: list[float], points: int = 60) -> dict[str, str]:
    swings = 0.5 + 0.2 * np.random.default_rng(5).normal(size=points).clip(-1.5, 1.5)
    lines = [f"step {n} loss {value:.4f}" for n, value in enumerate(swings)]
    every = points // len(held)
    for place, value in reversed(list(enumerate(held, 1))):
        lines.insert(place * every, f"step {place * every - 1} val_loss {value:.4f}")
    return log(lines)


def counted(*counts: int, more: str = "") -> dict[str, str]:
    return log([*(f"rank {n}: {count} batches{more}" for n, count in enumerate(counts)), *losses(9)])


def ranks(
    *totals: int, line: str = "epoch 0 it {n}/{total} loss 0.7", waited: bool = True, more: Sequence[str] = ()
) -> dict[str, str]:
    """What the ranks of one job printed, and how they ended."""
    said = {
        f"logs/{rank}/stdout.log": "".join(f"[{rank}] {line.format(n=n, total=total)}\n" for n in range(12))
        + ("".join(f"{text}\n" for text in more) if not rank else "")
        for rank, total in enumerate(totals)
    }
    ended = "RuntimeError: [/x/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 25000ms for recv operation"
    died = {f"logs/{rank}/stderr.log": f"[rank{rank}]: {ended} to complete\n" for rank in range(len(totals)) if waited}
    return {**said, **died}


def named(train: str, val: str, above: str = "") -> dict[str, str]:
    return {"data.yaml": f"{above}train: {train}\nval: {val}\nnc: 3\n", **log(losses(9))}


def stars(read: str) -> dict[str, str]:
    rows = "\n".join(json.dumps({"text": f"word{n % 7}", "stars": 1 + n * 7 % 5}) for n in range(200))
    code = f"import json\nimport torch\nrows = [json.loads(line) for line in open('train.jsonl')]\n{read}\n"
    return {"train.jsonl": rows + "\n", "config.yaml": "num_classes: 5\n", "train.py": code}


TIMED = "\n".join(
    f"Train: {n} loss {4 - n / 20:.3f} Time: 1.40s Data: {{}}" + ("\nTest: Time: 0.4s" if n % 20 == 19 else "")
    for n in range(60)
)

CASES = [
    case(ERRORS, "the kernel killed another user's program", beside(KILLED.format("rstudio")),
         "error-survived", "error-host-memory"),
    case(ERRORS, "the kernel killed the training", beside(KILLED.format("python3")), "error-host-memory"),
    case(ERRORS, "the kernel killed a helper of the job",
         beside(GROUP.format("/slurm/uid_1200/job_77", "bowtie2"), KILLED.format("bowtie2")), "error-host-memory"),
    case(ERRORS, "another user's cgroup", beside(GROUP.format("/user.slice/user-9.slice", "mysqld")),
         "error-survived", "error-host-memory"),
    case(ERRORS, "a fault of the device names no cause of its own",
         beside("[Mon May  4 03:10:00 2026] NVRM: Xid (PCI:0000:41:00): 79, pid=77, name=python3, GPU lost"),
         "error-gpu-hardware"),
    case(ERRORS, "both attempts end alike, the first says why", attempts(PRESSURE), "error-host-memory"),
    case(ERRORS, "both attempts end alike, and neither says why", attempts(), "error-at-the-end", "error-host-memory"),
    case(ERRORS, "the second attempt came through", attempts(PRESSURE, end="training finished"),
         "error-survived", "error-host-memory"),
    case(DATA, "most rows hold one number", {"spectra.npy": npy(flat(0.7))}, "data-constant"),
    case(DATA, "a few rows hold one number", {"spectra.npy": npy(flat(0.1))}, silent="data-constant"),
    case(DATA, "rows of a mask", {"mask.npy": npy(flat(0.7))}, silent="data-constant"),
    case(DATA, "rows of targets", {"labels.npy": npy(flat(0.7))}, silent="data-constant"),
    case(DATA, "columns that follow each other in the file, some of them sparse",
         {"table.npy": npy(np.asfortranarray(np.eye(200, 32)))}, silent="data-constant"),
    case(DATA, "rows of two numbers", {"points.npy": npy(flat(0.7, width=2))}, silent="data-constant"),
    case(DATA, "one folder for both", named("images/train", "images/train"), "one-file-for-both"),
    case(DATA, "one list for both", named("lists/a.txt", "lists/a.txt"),
         "one-file-for-both"),
    case(DATA, "a folder each", named("images/train", "images/val"), silent="one-file-for-both"),
    case(DATA, "one root for both", named("/data/birds", "/data/birds"), silent="one-file-for-both"),
    case(DATA, "switches, no paths", named("true", "true"), silent="one-file-for-both"),
    case(DATA, "labels from one, moved", stars("y = torch.tensor([row['stars'] - 1 for row in rows])"),
         silent="label-outside-classes"),
    case(DATA, "labels from one, looked up", stars("ids = {n: n - 1 for n in range(1, 6)}\n"
         "y = [ids[row['stars']] for row in rows]"), silent="label-outside-classes"),
    case(DATA, "labels from one, as they are", stars("y = torch.tensor([row['stars'] for row in rows]) * 1\nz = 9 - 1"),
         "label-outside-classes"),
    case(RANKS, "ranks with shares of different length", counted(25, 15), "batches-differ"),
    case(RANKS, "ranks that count up to different totals, and waited", ranks(13, 12), "batches-differ"),
    case(RANKS, "the same with a bar", ranks(13, 12, line="epoch 0: 8%|# | {n}/{total} [00:01<00:09]"),
         "batches-differ"),
    case(RANKS, "ranks that count up to one total", ranks(12, 12), silent="batches-differ"),
    case(RANKS, "different totals, and nobody waited", ranks(13, 12, waited=False), silent="batches-differ"),
    case(RANKS, "different totals of validation", ranks(13, 12, line="val it {n}/{total} acc 0.5"),
         silent="batches-differ"),
    case(RANKS, "a total that changes from epoch to epoch", ranks(13, 12, more=["[0] epoch 1 it 0/14 loss 0.5"]),
         silent="batches-differ"),
    case(RANKS, "ranks with shares of one length", counted(20, 20, 20), silent="batches-differ"),
    case(RANKS, "ranks that validate differently", counted(25, 15, more=" of val"), silent="batches-differ"),
    case(RANKS, "ranks that count as they go", log([f"rank {n % 2}: {n} batches" for n in range(8)]),
         silent="batches-differ"),
    case(PACE, "the unit is written once", log(TIMED.replace("{}", "1.21").split("\n")), "loader-starves-device"),
    case(PACE, "the unit is written once, data in time", log(TIMED.replace("{}", "0.01").split("\n")),
         silent="loader-starves-device loader-takes-time"),
    case(CURVE, "batches differ, the model stands", noisy([0.5001, 0.4999, 0.5, 0.5]), silent="loss-oscillates"),
    case(CURVE, "the model swings with its batches", noisy([0.5, 0.7, 0.41, 0.62]), "loss-oscillates"),
    case(CHANGES, "the spread of a reward that is earned every time",
         table("step", 1, reward=np.linspace(0.1, 1, 40).tolist(),
               reward_std=[*np.linspace(0.1, 0.4, 20), *np.linspace(0.4, 0, 20)],
               frac_reward_zero_std=np.linspace(0, 1, 40).tolist()), silent="older-task-forgotten"),
    case("check_ending", "a dated table of the GPU's processes, taken in the morning", {
        "log.jsonl": "".join(json.dumps({"time": f"2026-02-08 22:{n:02d}:00", "step": n, "loss": value}) + "\n"
                             for n, value in enumerate(falling(40))),
        "nvidia-smi.txt": "Mon Feb  9 09:01:17 2026\n| 30%  38C  24W |  21874MiB / 49140MiB |  0% |\n"
                          "|    0   N/A  N/A     31877      C   /opt/bin/python3          21866MiB |\n"},
         "alive-without-progress"),
    case("check_ending", "the same table, of another program", {
        "log.jsonl": "".join(json.dumps({"time": f"2026-02-08 22:{n:02d}:00", "step": n, "loss": value}) + "\n"
                             for n, value in enumerate(falling(40))),
        "nvidia-smi.txt": "Mon Feb  9 09:01:17 2026\n|    0   N/A  N/A     31877      G   /bin/Xorg  66MiB |\n"},
         silent="alive-without-progress"),
    case("inspect_outputs", "a few samples, all new tokens to the limit", {"samples.jsonl": "".join(
        json.dumps({"prompt": f"p{n}", "new_tokens": 64, "text": f"the {n} end of a line {n * 7}"}) + "\n"
        for n in range(6))}, "samples-never-stop"),
    case("inspect_outputs", "a few samples of one packed length", {"samples.jsonl": "".join(
        json.dumps({"prompt": f"p{n}", "tokens": 64, "text": f"the {n} end of a line {n * 7}"}) + "\n"
        for n in range(6))}, silent="samples-never-stop"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_signal(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)


@pytest.mark.parametrize(("name", "count"), [("rank_{:02d}.jsonl", 0), ("seed_{:02d}.jsonl", 3)])
def test_files_of_ranks_are_one_run(name: str, count: int, tmp_path: Path) -> None:
    for at in range(3):
        rows = [{"step": n, "loss": value + at, "fwd_ms": 80 + at} for n, value in enumerate(falling(30))]
        (tmp_path / name.format(at)).write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = Run(Scope.of(tmp_path))
    assert len(several_runs(run.files, run.series, run.errors)) == count


@pytest.mark.parametrize(("said", "count"), [("[rank{}]: RuntimeError: lost", 0), ("RuntimeError: lost", 2)])
def test_a_folder_for_each_rank_is_one_run(said: str, count: int, tmp_path: Path) -> None:
    for rank in range(2):
        folder = tmp_path / "logs" / str(rank)
        folder.mkdir(parents=True)
        (folder / "stdout.log").write_text("".join(f"step {n} loss {v:.3f}\n" for n, v in enumerate(falling(30))))
        (folder / "stderr.log").write_text(said.format(rank) + "\n")
    run = Run(Scope.of(tmp_path))
    assert len(several_runs(run.files, run.series, run.errors)) == count
