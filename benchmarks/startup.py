"""How long things take before anything interesting happens: `--help` against `python -c pass`, and the demo.

The demo's yardstick is the import of what it cannot do without; the last rows load a catalog of today's size and one
with a hundred failure modes more. Prints medians of interleaved runs, so that a noisy machine disturbs both sides
alike.
"""

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from traindx.diagnosis.catalog import FOLDER
from traindx.diagnosis.compiled import compiled_text, read_compiled

ROUNDS = 15
TRAINDX = str(Path(sys.executable).parent / "traindx")
YARDSTICK = "import pydantic, yaml, jinja2, rich"
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import traindx": [sys.executable, "-c", "import traindx"],
    "traindx --version": [TRAINDX, "--version"],
    "traindx --help": [TRAINDX, "--help"],
    "traindx explain": [TRAINDX, "explain"],
    "import its libraries": [sys.executable, "-c", YARDSTICK],
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
    ratio = statistics.median(taken["traindx demo"]) / statistics.median(taken["import its libraries"])
    print(f"the demo takes {ratio:.1f} times as long as `{YARDSTICK}` (bar: 6)")
    for more in (0, 100):
        print(f"loading a catalog with {more:3} failure modes more: {catalog_seconds(more) * 1000:.1f} ms")


def catalog_seconds(more: int) -> float:
    """How long a compiled catalog takes to load that has so many more failure modes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "failure_modes"
        shutil.copytree(FOLDER, folder)
        page = (folder / "overfitting.md").read_text(encoding="utf-8")
        for number in range(more):
            copy = page.replace("id: overfitting", f"id: overfitting-{number}", 1)
            (folder / f"overfitting-{number}.md").write_text(copy, encoding="utf-8")
        compiled = Path(name) / "compiled.json"
        compiled.write_text(compiled_text(folder), encoding="utf-8")
        times = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            found = read_compiled(folder, compiled)
            times.append(time.perf_counter() - began)
        assert found is not None
        return statistics.median(times)


if __name__ == "__main__":
    main()
