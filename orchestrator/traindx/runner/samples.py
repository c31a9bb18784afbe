"""What the command takes of the machine: memory and processor time of all its processes, and the GPUs."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

MOST_ROWS = 20_000
"""about 5 MB; then every second row goes, and samples are taken half as often"""
_GPU_FIELDS = {
    "memory.used": "memory_mb",
    "memory.total": "total_mb",
    "utilization.gpu": "util_percent",
    "temperature.gpu": "celsius",
    "power.draw": "watts",
}
_PATIENCE = 10.0
"""seconds for `nvidia-smi`, which takes one or two where many GPUs sleep"""
_MIB = float(1 << 20)


class Sampler(threading.Thread):
    """Takes a sample now and then, and one more at the end, until it is stopped."""

    def __init__(self, pid: int, file: Path, every: float) -> None:
        super().__init__(name="traindx-samples", daemon=True)
        self._tree, self._file, self._every = _Tree(pid), file, every
        self._stopping = threading.Event()
        self._began = time.monotonic()
        self._rows = 0
        self._gpus = shutil.which("nvidia-smi")

    def run(self) -> None:
        """Sample until stopped, or until the disk is full."""
        with contextlib.suppress(OSError):
            self._rows = _count(self._file)
            while not self._stopping.wait(0 if not self._rows else self._every):
                self._sample()

    def stop(self) -> None:
        """End, without waiting for a sample that hangs."""
        self._stopping.set()
        self.join(1.0)

    def _sample(self) -> None:
        row = {"time": round(time.time(), 2), "elapsed": round(time.monotonic() - self._began, 2)}
        row |= self._tree.measured()
        row["system_memory_percent"] = psutil.virtual_memory().percent
        if self._gpus:
            row |= _gpus(self._gpus)
        with self._file.open("a", encoding="utf-8") as kept:
            kept.write(json.dumps(row) + "\n")
        self._rows += 1
        if self._rows >= MOST_ROWS:
            self._rows = _halve(self._file)
            self._every *= 2


class _Tree:
    """The processes of the command."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._seconds: dict[tuple[int, float], float] = {}
        self._at = time.monotonic()

    def measured(self) -> dict[str, float]:
        """Resident memory and processor use since the last time, over all processes that are alive."""
        resident, seconds = 0, {}
        for process in self._processes():
            with contextlib.suppress(psutil.Error), process.oneshot():
                resident += process.memory_info().rss
                times = process.cpu_times()
                seconds[process.pid, process.create_time()] = times.user + times.system
        now = time.monotonic()
        spent = sum(amount - self._seconds.get(who, 0.0) for who, amount in seconds.items())
        share = 100 * spent / max(now - self._at, 1e-3)
        self._seconds, self._at = seconds, now
        return {"rss_mb": round(resident / _MIB, 1), "cpu_percent": round(share, 1), "processes": len(seconds)}

    def _processes(self) -> Iterator[psutil.Process]:
        with contextlib.suppress(psutil.Error):
            first = psutil.Process(self._pid)
            yield first
            yield from first.children(recursive=True)


def _gpus(command: str) -> dict[str, float]:
    """What `nvidia-smi` says of each GPU that the command may use; nothing where it fails."""
    asked = [command, f"--query-gpu=index,{','.join(_GPU_FIELDS)}", "--format=csv,noheader,nounits"]
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    if visible and all(part.strip().isdecimal() for part in visible.split(",")):
        asked.append(f"--id={visible}")
    try:
        done = subprocess.run(asked, capture_output=True, timeout=_PATIENCE, check=False, text=True, errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        return {}
    found: dict[str, float] = {}
    for line in done.stdout.splitlines():
        index, *values = [part.strip() for part in line.split(",")]
        for name, value in zip(_GPU_FIELDS.values(), values, strict=False):
            with contextlib.suppress(ValueError):  # `[N/A]`
                found[f"gpu{index}_{name}"] = float(value)
    return found


def _count(file: Path) -> int:
    try:
        with file.open("rb") as kept:
            return sum(1 for _ in kept)
    except FileNotFoundError:
        return 0


def _halve(file: Path) -> int:
    """Leave every second row, the last one among them; how many are left."""
    rows = file.read_bytes().splitlines(keepends=True)
    rest = rows[1::2]
    beside = file.with_name(f".{file.name}.part")
    beside.write_bytes(b"".join(rest))
    beside.replace(file)
    return len(rest)
