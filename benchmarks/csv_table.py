"""A CSV of a million rows and eight columns: traindx against pandas.read_csv, in turns.

Usage: python benchmarks/csv_table.py [rows]. The bar: no slower than pandas. Plain tables are read by compiled code
where the package was built with a compiler, and by numpy otherwise; both are timed, and both give every value exactly.
"""

import random
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped, unused-ignore]

from traindx.readers.native.library import library
from traindx.readers.tables.csvtable import read_csv

ROUNDS = 5
NAMES = ["step", "epoch", "train_loss", "val_loss", "accuracy", "lr", "grad_norm", "tokens"]


def write(path: Path, rows: int) -> None:
    """A table as a csv writer leaves it: integers, and floats as `repr` spells them."""
    chance = random.Random(1)  # noqa: S311 (numbers to read, not secrets)
    with path.open("w") as file:
        file.write(",".join(NAMES) + "\n")
        for n in range(rows):
            cells = (n, n // 1000, chance.random(), chance.gauss(2, 1), chance.random(), 3e-4 * (1 - n / rows))
            file.write(",".join(map(repr, cells)) + f",{chance.expovariate(1)!r},{n * 524288}\n")


def ours(path: Path) -> int:
    """The reader of traindx."""
    with path.open("rb") as handle:
        return sum(len(series) for series in read_csv(handle, path.name))


def numpy_only(path: Path) -> int:
    """The same without compiled code."""
    with path.open("rb") as handle:
        return sum(len(series) for series in read_csv(handle, path.name, compiled=False))


def theirs(path: Path) -> int:
    """pandas, as everyone calls it."""
    return int(pd.read_csv(path).size)


def single(path: Path) -> int:
    """pandas on one core, as traindx is; from 3.1 on it takes several."""
    if not hasattr(pd.options.mode, "max_threads"):
        return theirs(path)
    with pd.option_context("mode.max_threads", 1):
        return theirs(path)


READERS = {
    "pandas.read_csv": theirs,
    "the same, one thread": single,
    "traindx": ours,
    "traindx, numpy only": numpy_only,
}


def main() -> None:
    """Print both times and their ratio."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "metrics.csv"
        write(path, rows)
        wall: dict[str, list[float]] = {name: [] for name in READERS}
        busy: dict[str, list[float]] = {name: [] for name in READERS}
        for _ in range(ROUNDS):
            for name, reader in READERS.items():
                began, worked = time.perf_counter(), time.process_time()
                reader(path)
                wall[name].append(time.perf_counter() - began)
                busy[name].append(time.process_time() - worked)
        way = "compiled code" if library() else "numpy, as it was built without a compiler"
        print(f"{rows:,} rows, {path.stat().st_size / 1e6:.0f} MB, pandas {pd.__version__}; traindx reads by {way}")
        for name, times in wall.items():
            ratio = min(wall["pandas.read_csv"]) / min(times)
            print(f"{name:20} {min(times):6.2f} s wall {min(busy[name]):6.2f} s cpu  {ratio:5.2f} x pandas' speed")


if __name__ == "__main__":
    main()
