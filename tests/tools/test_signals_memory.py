"""Memory that grows to the end of the run, and memory that settles."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.signal_case import Case, case, check, falling, table
from traindx.vocabulary.metrics import measures_memory

MEMORY = "profile_memory"
POINTS = 60


def run(memory: list[float], name: str = "rss_mb") -> dict[str, str]:
    return table(loss=falling(len(memory)), **{name: memory})


LEAK = [400.0 + 12 * n + (n % 3) for n in range(POINTS)]
CASES = [
    case(MEMORY, "a leak", run(LEAK), "memory-grows", "memory-steady"),
    case(MEMORY, "a leak under peaks of single steps", run([v + 300 * (n % 5 == 0) for n, v in enumerate(LEAK)]),
         "memory-grows"),
    case(MEMORY, "device memory by another name", run([v / 100 for v in LEAK], "gpu_mem_gb"), "memory-grows"),
    case(MEMORY, "allocation in the first steps", run([400.0 + min(300, 30 * n) for n in range(POINTS)]),
         "memory-steady", "memory-grows"),
    case(MEMORY, "a saw that comes back to its floor", run([400.0 + 40 * (n % 10) for n in range(POINTS)]),
         silent="memory-grows"),
    case(MEMORY, "a few percent", run([350.0 + 15 * n / POINTS for n in range(POINTS)]), silent="memory-grows"),
    case(MEMORY, "caches that fill up and hold", run([400.0 + 200 * (1 - 0.85**n) for n in range(POINTS)]),
         silent="memory-grows"),
    case(MEMORY, "memory that falls", run(LEAK[::-1]), silent="memory-grows"),
    case(MEMORY, "a host with room", run([12.0 + n % 3 for n in range(POINTS)], "system_memory_percent"),
         "host-memory-free"),
    case(MEMORY, "a host that fills up", run([12.0 + 1.4 * n for n in range(POINTS)], "system_memory_percent"),
         silent="host-memory-free"),
    case(MEMORY, "a device with room", run([12.0 + n % 3 for n in range(POINTS)], "system.gpu.0.memory_percent"),
         silent="host-memory-free"),
    case(MEMORY, "memory that wanders", run([400.0 + 90 * ((7 * n) % 11) / 11 for n in range(POINTS)]),
         silent="memory-grows memory-steady"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_a_signal_fires_where_it_must_and_only_there(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)


@pytest.mark.parametrize("name", ["rss", "rss_mb", "gpu_mem_mb", "mem", "VRAM", "system/memory_percent", "cuda_memory"])
def test_names_of_memory(name: str) -> None:
    assert measures_memory(name)


@pytest.mark.parametrize(
    "name", ["loss", "remember_rate", "memory_loss", "mem_util", "member_acc", "program", "cell_mem"]
)
def test_names_that_only_look_like_it(name: str) -> None:
    assert not measures_memory(name)
