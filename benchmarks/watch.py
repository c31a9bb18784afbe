"""What `traindx watch` costs beside a log that grows by 1 MB/s, how soon it tells, and what it tells of the corpus.

python benchmarks/watch.py cost --seconds 600     processor time and memory over a healthy log
python benchmarks/watch.py latency                NaN, a traceback and a divergence at random times
python benchmarks/watch.py corpus                 20 healthy runs and their failing twins, replayed at 100x
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CORPUS = Path(__file__).resolve().parent / "corpus"
PAIRS = (
    "beam-halfgrad", "birds-dropout", "bs1-online", "cooking-lm", "digits-symmetric", "domain-lm", "ecg-clip",
    "event-counter-rnn", "faces-triplet", "fraud-oneclass", "grid-sgd-wd", "hf-print-decay", "leaves-tqdm",
    "lstm-slurm", "names-gru", "pendulum-lion", "reinforce-cart", "rings-cosine", "shapes-cnn-sgd", "wind-mdn",
)  # fmt: skip
REPLAYED = 12.0
"""seconds: a run of twenty minutes, a hundred times as fast"""
GROWING = {".log", ".out", ".txt", ".csv", ".jsonl"}
LATE = {".pt", ".pth", ".ckpt"}
TRACEBACK = (
    b'Traceback (most recent call last):\n  File "train.py", line 88, in <module>\n    loss = criterion(model(x), y)\n'
    b"RuntimeError: CUDA error: device-side assert triggered\n"
)


def write_log(path: Path, seconds: float, rate: float, fault: str, at: float) -> None:
    """Grow a log at a steady rate; from `at` on it shows a fault. Prints when the first such line was written."""
    rng, step, shown = random.Random(7), 0, False  # noqa: S311 - numbers of a log
    noise = [rng.gauss(0, 0.05) for _ in range(9973)]
    began = time.time()
    with path.open("wb", buffering=0) as log:
        log.write(b"lr=0.0003 batch_size=32 optimizer=adamw\n")
        while (now := time.time() - began) < seconds:
            rows = []
            for step in range(step, int(rate * now / 104)):  # noqa: B020 - goes on where the last batch ended
                loss = 4 * (step + 1) ** -0.1 + noise[step % 9973]
                if now > at and fault == "nan":
                    loss = math.nan
                if now > at and fault == "divergence":
                    loss += math.exp(min(2 * (now - at), 18)) - 1
                clock = f"{int(now) // 60 % 60:02d}:{int(now) % 60:02d},{step % 1000:03d}"
                rows.append(
                    f"2026-11-19 20:{clock} INFO train step {step:9d} loss {loss:.4f}"
                    f" grad_norm {1 + abs(noise[step % 7919]):.4f} lr 3.00e-04 it/s 9803.9\n"
                )
            step += 1
            log.write("".join(rows).encode())
            if now > at and fault and not shown:
                shown = True
                if fault == "traceback":
                    log.write(TRACEBACK)
                print(json.dumps({"shown": time.time(), "size": path.stat().st_size}), flush=True)
                if fault == "traceback":
                    return
            time.sleep(0.05)


def watched(folder: Path, writer: subprocess.Popen[str]) -> tuple[list[tuple[float, dict[str, object]]], float, float]:
    """What a watch tells until the writer has ended, when, and its processor seconds and megabytes."""
    process = subprocess.Popen(
        [sys.executable, "-m", "traindx", "watch", str(folder), "--json", "-q", "--pid", str(writer.pid)],
        stdout=subprocess.PIPE, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert process.stdout is not None
    told = [(time.time(), json.loads(line)) for line in process.stdout]
    writer.wait()
    _, _, used = os.wait4(process.pid, 0)
    return told, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def start_writer(*words: object) -> subprocess.Popen[str]:
    """This script as a writer, in a process of its own."""
    return subprocess.Popen(
        [sys.executable, __file__, "write", *map(str, words)], stdout=subprocess.PIPE, text=True, start_new_session=True
    )


def cost(seconds: float, rate: float) -> None:
    """Processor time and memory of a watch over a healthy log."""
    with tempfile.TemporaryDirectory() as name:
        log = Path(name) / "train.log"
        writer = start_writer(log, seconds, rate, "", 0)
        told, cpu, memory = watched(Path(name), writer)
        size = log.stat().st_size / 1e6
    print(f"{size:.0f} MB in {seconds:.0f} s: {cpu:.1f} s of processor time, {100 * cpu / seconds:.2f} % of one core,")
    print(f"{memory:.0f} MB at most (the largest process); told: {[row['id'] for _, row in told] or 'nothing'}")


def latency(seconds: float, rate: float, seed: int) -> None:
    """How long after the line that shows a fault it is told."""
    rng = random.Random(seed)  # noqa: S311 - when a fault comes
    print(f"{'fault':12} {'written at':>10} {'told after':>10}  {'after it can be concluded':>26}  told")
    for fault in ("nan", "traceback", "divergence"):
        at = rng.uniform(0.3, 0.7) * seconds
        with tempfile.TemporaryDirectory() as name:
            log = Path(name) / "train.log"
            writer = start_writer(log, seconds, rate, fault, at)
            told, _, _ = watched(Path(name), writer)
            assert writer.stdout is not None
            shown = json.loads(writer.stdout.readline())
            first = next(((when, row) for when, row in told if row["kind"] == "found"), None)
            if first is None:
                print(f"{fault:12} {at:9.1f}s  not told")
                continue
            sure = shown["shown"] + (concluded(log, shown["size"]) - shown["size"]) / rate
            after = f"{first[0] - sure:.1f}s (at {sure - shown['shown']:.1f}s)"
            print(f"{fault:12} {at:9.1f}s {first[0] - shown['shown']:9.1f}s  {after:>26}  {first[1]['id']}")


def concluded(log: Path, shown: int) -> int:
    """The size of the log from which on `traindx diagnose` concludes a fault, to a quarter of a megabyte."""
    from traindx import diagnose

    low, high = shown, log.stat().st_size
    data = log.read_bytes()
    with tempfile.TemporaryDirectory() as name:
        part = Path(name) / "train.log"
        low = max(low - 1, 1)
        while high - low > 250_000 or low < shown <= high:
            middle = shown if low < shown else (low + high) // 2
            part.write_bytes(data[: data.rfind(b"\n", 0, middle) + 1 + (len(TRACEBACK) if middle == shown else 0)])
            faulty = any(cause.likely for cause in diagnose(part, brain="local").root_causes)
            low, high = (low, middle) if faulty else (middle, high)
            if faulty and middle == shown:
                return shown
    return high


def replay(source: Path, target: Path, seconds: float) -> None:
    """Write a finished run again, its texts line by line."""
    texts = {}
    for path in sorted(source.rglob("*")):
        copy = target / path.relative_to(source)
        if path.is_dir():
            copy.mkdir(parents=True, exist_ok=True)
        elif path.suffix in GROWING and "requirements" not in path.name:
            texts[copy] = path.read_bytes().splitlines(keepends=True)
        elif path.suffix not in LATE:
            shutil.copy(path, copy)
    began, done = time.time(), dict.fromkeys(texts, 0)
    while (share := min(1.0, (time.time() - began) / seconds)) < 1.0 or any(done[k] < len(v) for k, v in texts.items()):
        for copy, lines in texts.items():
            due = int(share * len(lines))
            with copy.open("ab") as handle:
                handle.write(b"".join(lines[done[copy] : due]))
            done[copy] = due
        time.sleep(0.1)
    for path in source.rglob("*"):
        if path.suffix in LATE:
            shutil.copy(path, target / path.relative_to(source))


def replayed(run: str) -> tuple[str, list[dict[str, object]]]:
    """What a watch tells of one run of the corpus."""
    with tempfile.TemporaryDirectory() as name:
        writer = start_writer(CORPUS / run / "run", name, REPLAYED)
        told, _, _ = watched(Path(name), writer)
    return run, [row for _, row in told]


def corpus(at_once: int) -> None:
    """No alarm on healthy runs; their failing twins told before the end, or at it."""
    with ThreadPoolExecutor(at_once) as pool:
        healthy = list(pool.map(replayed, [f"{name}-healthy" for name in PAIRS]))
        failing = list(pool.map(replayed, PAIRS))
    for run, told in [*healthy, *failing]:
        shown = [f"{row['kind']} {row['id']}{' at the end' if row['at_end'] else ''}" for row in told]
        print(f"{run:28} {', '.join(shown) or '-'}")
    alarms = sum(bool(told) for _, told in healthy)
    early = sum(any(not row["at_end"] for row in told) for _, told in failing)
    print(f"alarms on {alarms} of {len(healthy)} healthy runs")
    print(f"told of {sum(bool(told) for _, told in failing)} of {len(failing)} failing runs, {early} before the end")


def main() -> None:
    """Run one of the measurements."""
    if sys.argv[1:2] == ["write"]:
        words = sys.argv[2:]
        if len(words) == 3:
            replay(Path(words[0]), Path(words[1]), float(words[2]))
        else:
            write_log(Path(words[0]), float(words[1]), float(words[2]), words[3], float(words[4]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("cost", "latency", "corpus"), default="cost")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=1e6, help="bytes per second")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=2, help="replays at the same time")
    given = parser.parse_args()
    if given.what == "cost":
        cost(given.seconds, given.rate)
    elif given.what == "latency":
        latency(given.seconds, given.rate, given.seed)
    else:
        corpus(given.at_once)


if __name__ == "__main__":
    main()
