"""A log of any size: time, memory of the whole process, and whether the last error in it is found.

Usage: python benchmarks/huge_log.py [megabytes ...]; the bar is 2000 with less than 400 MB resident. Each size is
read in a process of its own, series, settings and log_errors one after the other; the file is deleted afterwards.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LAST = "RuntimeError: CUDA error: an illegal memory access was encountered (the last one)"


def write(path: Path, megabytes: int) -> None:
    """A nanoGPT log with a warning now and then, a spike late in it, and an error at its end."""
    line, size = 0, 0
    with path.open("w") as file:
        while size < megabytes * 1_000_000:
            piece = "".join(
                f"iter {n}: loss {2 + 1 / (1 + n / 1e5) + (n * 7919 % 97) / 1000:.4f}, time {120 + n % 13}.25ms,"
                f" mfu 40.{n % 90 + 10}%\n"
                for n in range(line, line + 20_000)
            )
            piece += f"step {line}: train loss 2.1, val loss 2.2\n[WARNING] slow data loading at step {line}\n"
            line += 20_000
            size += file.write(piece)
        file.write(f"iter {line}: loss 987.6543, time 120.25ms, mfu 40.10%\n")
        file.write(f'Traceback (most recent call last):\n  File "train.py", line 7, in <module>\n    main()\n{LAST}\n')


def read(folder: str) -> None:
    """Read everything once and say what it cost."""
    from traindx.readers import Run, Scope

    began = time.perf_counter()
    run = Run(Scope.of(folder))
    series = run.series
    between = time.perf_counter()
    log_errors, settings = run.errors, run.settings
    ended = time.perf_counter()
    size = sum(file.size for file in run.files) / 1e6
    loss = next(found for found in series if found.name == "train/loss")
    assert log_errors[-1].text == LAST, log_errors[-1:]
    assert loss.values.max() == 987.6543
    assert settings is not None
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{size:8.0f} MB {between - began:7.1f} s series {ended - between:7.1f} s errors "
        f"{size / (ended - began):7.1f} MB/s {resident:6.0f} MB resident, "
        f"{len(loss):,} points kept (1 in {loss.thinned})",
        flush=True,
    )


def main() -> None:
    """Write, read in a fresh process, delete; one row a size."""
    if sys.argv[1:2] == ["--read"]:
        read(sys.argv[2])
        return
    for megabytes in [int(size) for size in sys.argv[1:]] or [100, 200, 400]:
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder) / "train.log", megabytes)
            subprocess.run([sys.executable, __file__, "--read", folder], check=True)


if __name__ == "__main__":
    main()
