"""How long things take before anything interesting happens: `--help` against `python -c pass`, and the demo.

Prints medians of interleaved runs, so that a noisy machine disturbs both sides alike.
"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 15
TRAINDX = str(Path(sys.executable).parent / "traindx")
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import traindx": [sys.executable, "-c", "import traindx"],
    "traindx --version": [TRAINDX, "--version"],
    "traindx --help": [TRAINDX, "--help"],
    "traindx explain": [TRAINDX, "explain"],
    "traindx demo": [TRAINDX, "demo", "--json"],
}


def seconds(command: list[str]) -> float:
    """Wall-clock time of one run."""
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def main() -> None:
    """Print one row a command: median time, and the ratio to the bare interpreter."""
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        for name, command in COMMANDS.items():
            taken[name].append(seconds(command))
    bare = statistics.median(taken["python -c pass"])
    for name, times in taken.items():
        median = statistics.median(times)
        print(f"{name:20} {median * 1000:8.1f} ms {median / bare:6.1f} x")


if __name__ == "__main__":
    main()
