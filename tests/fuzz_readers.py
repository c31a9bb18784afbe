"""A fuzz target: damaged copies of the format samples, read as a run; nothing may raise, nothing may take long.

    python tests/fuzz_readers.py [SECONDS] [SEED]

`make fuzz` runs it for a minute. It prints the seed of what it found, so that a failure can be repeated.
"""

import random
import sys
import tempfile
import time
import warnings
from pathlib import Path

from traindx.readers import Run, Scope

SAMPLES = [path for path in (Path(__file__).parent / "formats").rglob("files/**/*") if path.is_file()]
NAMES = (
    "train.log",
    "metrics.csv",
    "config.yaml",
    "x.json",
    "train.py",
    "nb.ipynb",
    "model.pt",
    "a.npy",
    "events",
    "e.gz",
)
SECONDS_PER_MB = 20.0
PARTS = ("files", "series", "settings", "errors", "code", "checkpoints", "arrays", "tables", "git")


def damaged(data: bytes, dice: random.Random) -> bytes:
    """A copy with a few of the accidents that happen to files."""
    copy = bytearray(data[: dice.choice([len(data), dice.randint(0, len(data)), 4096])])
    for _ in range(dice.randint(0, 8)):
        place = dice.randint(0, len(copy))
        kind = dice.randrange(5)
        if kind == 0:
            copy[place : place + dice.randint(1, 64)] = b""
        elif kind == 1:
            copy[place:place] = dice.randbytes(dice.randint(1, 64))
        elif kind == 2:
            copy[place:place] = b"\0" * dice.randint(1, 4096)
        elif kind == 3:
            copy[place:place] = copy[: dice.randint(0, len(copy))]
        else:
            copy[place:place] = dice.choice([b"nan", b"1e999", b"{" * 500, b"\r" * 99, b"\xff\xfe", b"loss " * 50])
    return bytes(copy)


def read(folder: Path) -> float:
    """Read everything there is to read; the seconds it took."""
    began = time.perf_counter()
    run = Run(Scope.of(folder))
    for part in PARTS:
        getattr(run, part)
    surprises = [row for row in run.unread if row.surprise]
    if surprises:
        raise AssertionError(f"{surprises[0].path}: {surprises[0].reason}")
    return time.perf_counter() - began


def main() -> int:
    """Fuzz for a while; a non-zero exit names the seed of the first failure."""
    warnings.simplefilter("error")
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    ends, rounds, slowest = time.monotonic() + seconds, 0, 0.0
    while time.monotonic() < ends:
        dice = random.Random(seed + rounds)
        with tempfile.TemporaryDirectory() as name:
            source = dice.choice(SAMPLES)
            content = damaged(source.read_bytes(), dice)
            (Path(name) / dice.choice([source.name, *NAMES])).write_bytes(content)
            try:
                taken = read(Path(name))
            except Exception as error:
                sys.stderr.write(f"seed {seed + rounds} ({source}): {type(error).__name__}: {error}\n")
                raise
            if taken > 2 + SECONDS_PER_MB * len(content) / 1e6:
                sys.stderr.write(f"seed {seed + rounds} ({source}): {taken:.1f} s for {len(content):,} bytes\n")
                return 1
            slowest = max(slowest, taken)
        rounds += 1
    sys.stdout.write(f"{rounds} damaged files read, slowest {slowest:.2f} s\nfuzz: {rounds} passed, 0 failed\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
