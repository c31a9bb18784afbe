"""Histories with one JSON object per line: the whole survey against `json.loads` over the same lines.

Usage: python benchmarks/json_lines.py [megabytes ...]. The bar: 60 MB/s and 400 MB resident, whatever the size.
"""

import json
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

from large_files import row, surveyed, timed

CHANCE = random.Random(7)  # noqa: S311 (numbers to read, not secrets)


def flat(steps: int) -> Iterator[str]:
    """Eight numbers with all their digits, as `json.dumps` writes them."""
    for n in range(steps):
        record = {
            "step": n,
            "loss": 2 + 1 / (1 + n / 1e5) + CHANCE.random() / 10,
            "lr": 3e-4 * (1 - n / steps),
            "grad_norm": CHANCE.random(),
            "tokens": n * 4096,
            "time": 1.7e9 + n * 0.13,
            "mfu": round(40 + CHANCE.random(), 2),
            "epoch": n / 10_000,
        }
        yield f"{json.dumps(record)}\n"


def mixed(steps: int) -> Iterator[str]:
    """Nested objects, texts, lists, an evaluation now and then, and NaN."""
    for n in range(steps):
        record: dict[str, object] = {
            "ts": f"2026-01-01T00:{n // 60 % 60:02d}:{n % 60:02d}Z",
            "level": "info",
            "step": n,
            "train": {"loss": round(2 + CHANCE.random(), 5), "acc": round(CHANCE.random(), 4)},
            "gpu": {"0": {"util": CHANCE.randint(80, 99)}, "1": {"util": CHANCE.randint(80, 99)}},
            "betas": [0.9, 0.999],
        }
        if n % 997 == 0:
            record["train"] = {"loss": float("nan"), "acc": 0.1}
        yield f"{json.dumps(record)}\n"
        if n % 200 == 0:
            yield f"{json.dumps({'step': n, 'val': {'loss': round(2 + CHANCE.random(), 5)}})}\n"


STYLES: dict[str, tuple[Callable[[int], Iterator[str]], int]] = {"flat": (flat, 190), "nested and mixed": (mixed, 155)}


def plain(path: Path) -> int:
    """A competent reader of the usual kind; it knows flat objects only."""
    series: dict[str, list[float]] = defaultdict(list)
    with path.open() as lines:
        for line in lines:
            for name, value in json.loads(line).items():
                if isinstance(value, int | float):
                    series[name].append(value)
    return sum(map(len, series.values()))


def main() -> None:
    """Print a row for each style and size."""
    for megabytes in [int(size) for size in sys.argv[1:]] or [100, 300]:
        for style, (lines, width) in STYLES.items():
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "metrics.jsonl"
                with path.open("w") as file:
                    file.writelines(lines(megabytes * 1_000_000 // width))
                size = path.stat().st_size / 1e6
                cost = surveyed(Path(folder))
                print(row(style, size, cost, timed(lambda path=path: plain(path))), flush=True)


if __name__ == "__main__":
    main()
