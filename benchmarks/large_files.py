"""A folder of large files, surveyed in a process of its own: time, speed and the most memory that was resident.

Usage: python benchmarks/large_files.py FOLDER, which prints one JSON object. The other benchmarks start it so: the
survey is what the worker does first (series, errors, settings, facts of the cluster), and a fresh process has a
peak of its own.
"""

import json
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def surveyed(folder: Path) -> dict[str, Any]:
    """Survey a folder in a fresh process and say what it cost."""
    found = subprocess.run(
        [sys.executable, __file__, str(folder)], check=True, capture_output=True, text=True
    ).stdout.splitlines()[-1]
    cost: dict[str, Any] = json.loads(found)
    return cost


def timed(work: Callable[[], object]) -> float:
    """The seconds that a piece of work takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def most_resident() -> float:
    """The most megabytes that were resident in this process."""
    # `ru_maxrss` of a new process begins with what its parent had: the kernel carries it over `exec`.
    status = Path("/proc/self/status")
    told = re.search(r"VmHWM:\s+(\d+) kB", status.read_text()) if status.exists() else None
    return (int(told[1]) if told else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 1024


def row(style: str, size: float, cost: dict[str, Any], peer: float) -> str:
    """One line of a table: the speed beside that of a plain reader, and the memory."""
    ours, plain = size / cost["seconds"], size / peer
    return (
        f"{style:24} {size:7.0f} MB {ours:7.1f} MB/s (by cpu time {size / cost['busy']:6.1f}, plain {plain:6.1f},"
        f" ratio {ours / plain:5.1f}) "
        f"{cost['resident']:5.0f} MB resident, {cost['points']:,} points of {cost['series']} series"
    )


def main() -> None:
    """Survey one folder here."""
    from traindx.pipeline.context.survey import Input, survey
    from traindx.readers import Run, Scope

    run = Run(Scope.of(sys.argv[1]))
    worked = time.process_time()
    seconds = timed(lambda: survey(Input(), run))
    worked = time.process_time() - worked
    print(
        json.dumps(
            {
                "seconds": seconds,
                "busy": worked,
                "resident": most_resident(),
                "series": len(run.series),
                "points": sum(len(series) for series in run.series),
                "errors": [log_error.text for log_error in run.errors],
            }
        )
    )


if __name__ == "__main__" and len(sys.argv) > 1:
    main()
