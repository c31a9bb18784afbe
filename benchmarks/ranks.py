"""One log of many ranks whose lines are mixed: the whole survey against a plain regular expression.

Usage: python benchmarks/ranks.py [megabytes ...]. The bar: 60 MB/s and 400 MB resident, whatever the size and however
the launcher marks the ranks.
"""

import random
import re
import sys
import tempfile
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


def main() -> None:
    """Print a row for each mark and size."""
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
