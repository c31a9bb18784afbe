"""Metric-dense text logs: traindx against a plain reader that runs one regular expression over every line.

Usage: python benchmarks/text_log.py [megabytes]. Both readers take turns in one process, on one core; the best of
five rounds counts. The bar: 100 MB/s and three times the plain reader, on the first style.
"""

import random
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

from traindx.readers.logs.textlog import read_log

ROUNDS = 5
PAIR = re.compile(r"(\w+)[:= ]+([-+0-9.eE]+)")
CHANCE = random.Random(5)  # noqa: S311 (numbers to read, not secrets)


def nanogpt(steps: int) -> Iterator[str]:
    """`iter N: loss X, time Yms, mfu Z%`, with an evaluation every 250 lines."""
    for n in range(steps):
        loss = 3 + 7 / (1 + n / 50) + CHANCE.gauss(0, 0.05)
        yield f"iter {n}: loss {loss:.4f}, time {CHANCE.gauss(130, 3):.2f}ms, mfu {CHANCE.gauss(40, 1):.2f}%\n"
        if n % 250 == 0:
            yield f"step {n}: train loss {loss:.4f}, val loss {loss + 0.1:.4f}\n"


def speedrun(steps: int) -> Iterator[str]:
    """`step:10/500 train_loss:2.1 train_time:12ms step_avg:1.2ms`."""
    for n in range(steps):
        loss = 3 + 7 / (1 + n / 50) + CHANCE.gauss(0, 0.05)
        times = f"train_time:{n * 130}ms step_avg:{CHANCE.gauss(130, 1):.2f}ms"
        yield f"step:{n}/{steps} train_loss:{loss:.4f} {times}\n"
        if n % 125 == 0:
            yield f"step:{n}/{steps} val_loss:{loss + 0.1:.4f} {times}\n"


def logging(steps: int) -> Iterator[str]:
    """Python's logging with time stamps."""
    for n in range(steps):
        loss, s = 3 + 7 / (1 + n / 50) + CHANCE.gauss(0, 0.05), n // 3
        clock = f"{s // 3600 % 24:02d}:{s // 60 % 60:02d}:{s % 60:02d},{CHANCE.randint(0, 999):03d}"
        head = f"2026-01-{1 + s // 86400 % 28:02d} {clock} - trainer - INFO - step {n}"
        rate, norm = f"{3e-4 * (1 - n / steps):.3e}", f"{CHANCE.expovariate(1):.3f}"
        yield f"{head} | loss {loss:.4f} | lr {rate} | grad_norm {norm}\n"
        if n % 200 == 0:
            yield f"{head} | val_loss {loss + 0.1:.4f} | val_acc {CHANCE.random():.4f}\n"


def hugging_face(steps: int) -> Iterator[str]:
    """The dict that `Trainer` prints, with floats in full."""
    for n in range(steps):
        loss, epoch = 3 + 7 / (1 + n / 50) + CHANCE.gauss(0, 0.05), round(n * 3 / steps, 2)
        rate = 5e-5 * (1 - n / steps)
        said = {"loss": round(loss, 4), "grad_norm": CHANCE.expovariate(1), "learning_rate": rate, "epoch": epoch}
        yield f"{said}\n"
        if n % 200 == 0:
            yield f"{ {'eval_loss': loss + 0.1, 'eval_runtime': round(CHANCE.gauss(12, 1), 4), 'epoch': epoch} }\n"


STYLES: dict[str, tuple[Callable[[int], Iterator[str]], int]] = {
    "nanoGPT": (nanogpt, 52),
    "step:10/500": (speedrun, 75),
    "python logging": (logging, 98),
    "Hugging Face dict": (hugging_face, 101),
}


def plain(path: Path) -> int:
    """A competent reader of the usual kind."""
    series: dict[str, list[float]] = defaultdict(list)
    with path.open() as lines:
        for line in lines:
            for found in PAIR.finditer(line):
                try:
                    series[found[1]].append(float(found[2]))
                except ValueError:
                    continue
    return sum(map(len, series.values()))


def ours(path: Path) -> int:
    """The reader of traindx."""
    with path.open("rb") as handle:
        found, _ = read_log(handle, path.name)
    return sum(len(series) for series in found)


def main() -> None:
    """Print a row for each style: both speeds and their ratio."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    print(
        f"{'style':20} {'MB':>5} {'plain MB/s':>11} {'traindx MB/s':>13} {'by cpu time':>14} {'ratio':>6} {'points':>9}"
    )
    for style, (lines, width) in STYLES.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "train.log"
            with path.open("w") as file:
                file.writelines(lines(megabytes * 1_000_000 // width))
            size = path.stat().st_size / 1e6
            wall: dict[str, list[float]] = {"plain": [], "ours": []}
            busy: dict[str, list[float]] = {"plain": [], "ours": []}
            points = 0
            for _ in range(ROUNDS):
                for name, reader in (("plain", plain), ("ours", ours)):
                    began, worked = time.perf_counter(), time.process_time()
                    points = reader(path)
                    wall[name].append(time.perf_counter() - began)
                    busy[name].append(time.process_time() - worked)
            slow, fast, cpu = size / min(wall["plain"]), size / min(wall["ours"]), size / min(busy["ours"])
            print(
                f"{style:20} {size:5.0f} {slow:11.1f} {fast:13.1f} {cpu:14.1f} {fast / slow:6.1f} {points:9,}",
                flush=True,
            )


if __name__ == "__main__":
    main()
