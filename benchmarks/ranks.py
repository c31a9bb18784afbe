"""One log of many ranks whose lines are mixed: the whole survey against a plain regular expression.

Usage: python benchmarks/ranks.py [megabytes ...]. The bar: 60 MB/s and 400 MB resident, whatever the size and however
the launcher marks the ranks.

python benchmarks/ranks.py --root [megabytes] diagnoses one log in which a rank runs out of memory and the others wait
for it until they time out. The bar: 1,000 MB in 12 s, the rank and its error named, in bounded memory.
"""

import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from large_files import row, surveyed, timed

RANKS = 64
LAST = "RuntimeError: NCCL error: unhandled system error (the last one)"
CHANCE = random.Random(3)  # noqa: S311 (numbers to read, not secrets)
LINE = re.compile(r"^(?:\[rank(\d+)\]: ?|(\d+): |\[(\d+)\]: ?)?.*")
PAIR = re.compile(r"(\w+)[:= ]+([-+0-9.eE]+)")
MARKS: dict[str, Callable[[int], str]] = {
    "[rank12]: (torchrun)": lambda rank: f"[rank{rank}]: ",
    "12: (srun --label)": lambda rank: f"{rank:2d}: ",
    "[12]: (pdsh, mpirun)": lambda rank: f"[{rank}]:",
    "time [rank12]": lambda rank: f"2026-01-02 03:04:05,678 [rank{rank}] INFO ",
}


def write(path: Path, megabytes: int, mark: Callable[[int], str]) -> None:
    """Every rank reports every step, in an order that changes; one of them fails at the end."""
    step = size = 0
    with path.open("w") as file:
        while size < megabytes * 1_000_000:
            pieces = []
            for _ in range(100):
                for rank in CHANCE.sample(range(RANKS), RANKS):
                    loss = 2 + 1 / (1 + step / 1e4) + CHANCE.random() / 10
                    pieces.append(
                        f"{mark(rank)}step {step} loss {loss:.4f} lr {3e-4:.3e} grad_norm {CHANCE.random():.3f}"
                        f" tok/s {CHANCE.randint(40000, 50000)}\n"
                    )
                step += 1
            size += file.write("".join(pieces))
        lines = ("Traceback (most recent call last):", '  File "train.py", line 7, in <module>', "    main()", LAST)
        file.writelines(f"{mark(12)}{line}\n" for line in lines)


def plain(path: Path) -> int:
    """A competent reader of the usual kind."""
    series: dict[tuple[str, str], list[float]] = defaultdict(list)
    with path.open() as lines:
        for line in lines:
            found = LINE.match(line)
            rank = next((group for group in found.groups() if group), "") if found else ""
            for name, value in PAIR.findall(line):
                try:
                    series[rank, name].append(float(value))
                except ValueError:
                    continue
    return sum(map(len, series.values()))


def write_failure(path: Path, megabytes: int) -> None:
    """Every rank reports every step; rank 37 runs out of memory, and ten minutes later all others report a timeout."""
    tails = [f"loss {2 + CHANCE.random():.4f} lr 3.000e-04 grad_norm {CHANCE.random():.3f}" for _ in range(RANKS)]
    block = "".join(f"[rank{rank}]: step \0 {tails[rank]} tok/s {41_000 + 7 * rank}\n" for rank in range(RANKS))
    failed = (
        "Traceback (most recent call last):",
        '  File "train.py", line 212, in <module>',
        "    main()",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.25 GiB. GPU 5 has a total of 79.1 GiB",
    )
    waited = (
        "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=88121, OpType=ALLREDUCE, NumelIn=4096,"
        " NumelOut=4096, Timeout(ms)=600000) ran for 600021 milliseconds before timing out."
    )
    with path.open("w") as file:
        step = size = 0
        while size < megabytes * 1_000_000:
            size += file.write(block.replace("\0", str(step)))
            step += 1
        file.writelines(f"[rank37]: {line}\n" for line in failed)
        file.writelines(
            f"[rank{rank}]:[E101 02:13:{rank % 60:02d}.318 ProcessGroupNCCL.cpp:632] [Rank {rank}] {waited}\n"
            for rank in range(RANKS)
            if rank != 37
        )


def root(megabytes: int) -> None:
    """Diagnose one such log with the command itself."""
    command = [sys.executable, "-m", "traindx", "diagnose", "--json", "-q", "--brain", "local"]
    with tempfile.TemporaryDirectory() as folder:
        write_failure(Path(folder) / "train.log", megabytes)
        begin = time.perf_counter()
        told = subprocess.run([*command, folder], capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - begin
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    causes = json.loads(told.stdout)["root_causes"]
    print(f"{megabytes} MB: {seconds:.1f} s, {used.ru_utime + used.ru_stime:.1f} s of processor time,")
    print(f"at most {used.ru_maxrss / 1024:.0f} MB resident; first: {causes[0]['id'] if causes else 'nothing'}")
    print(causes[0]["issue"] if causes else "")


def main() -> None:
    """Print a row for each mark and size, or how long it takes to find a root."""
    if "--root" in sys.argv:
        root(int(next((one for one in sys.argv[1:] if one.isdecimal()), "1000")))
        return
    for megabytes in [int(size) for size in sys.argv[1:]] or [100, 300]:
        for style, mark in MARKS.items():
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "train.log"
                write(path, megabytes, mark)
                size = path.stat().st_size / 1e6
                cost = surveyed(Path(folder))
                assert any(LAST in text for text in cost["errors"]), cost["errors"][-3:]
                print(row(style, size, cost, timed(lambda path=path: plain(path))), flush=True)


if __name__ == "__main__":
    main()
