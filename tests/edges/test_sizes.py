"""Large logs: memory that does not grow with the file, and a speed that a plain reader would have."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

MOST_MEMORY = 400 << 20
MEASURED = """
import resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "traindx", "gather", sys.argv[1], "--json", "-q"], stdout=subprocess.PIPE)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(done.returncode, used.ru_maxrss * 1024, used.ru_utime + used.ru_stime)
"""
PLAIN = """
import json, resource, sys
for line in open(sys.argv[1]):
    json.loads(line)
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime)
"""


def measured(program: str, path: Path) -> list[float]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("ANTHROPIC", "PYTHON"))}
    command = [sys.executable, "-c", program, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", env=clean, check=True)
    return [float(word) for word in done.stdout.split()]


def test_ranks_that_write_into_one_log_take_little_memory(tmp_path: Path) -> None:
    with (tmp_path / "train.log").open("w") as file:
        for step in range(20_000):
            loss = 2.3 / (1 + step / 900)
            file.write(
                "".join(
                    f"[rank{rank}]: step {step} | loss {loss + rank * 1e-3:.5f} | grad_norm 1.{rank:02d} | lr 3.0e-04\n"
                    for rank in range(64)
                )
            )
    status, memory, _ = measured(MEASURED, tmp_path)
    assert status == 0
    assert memory <= MOST_MEMORY, f"{memory / 1e6:.0f} MB"


def test_lines_of_json_are_read_as_fast_as_python_parses_them(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    with path.open("w") as file:
        for step in range(500_000):
            row = {
                "step": step,
                "loss": 2.3 / (1 + step / 900),
                "lr": 3e-4,
                "grad_norm": 1 + step % 7,
                "tokens": step * 512,
            }
            file.write(json.dumps(row) + "\n")
    (plain,) = measured(PLAIN, path)
    status, memory, seconds = measured(MEASURED, tmp_path)
    assert status == 0
    assert memory <= MOST_MEMORY
    assert seconds < 3 * plain + 3, f"{seconds:.1f} s of processor time, {plain:.1f} s for json.loads alone"
