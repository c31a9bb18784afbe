"""What logs print about memory: out-of-memory messages of every kind, and the tables of nvidia-smi and torch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

GIB = 1 << 30
_UNITS = {"": 1, "B": 1, "BYTES": 1, "KB": 1000, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}
_AMOUNT = r"([\d.,]{1,20})\s?([KMGT]i?B|bytes|B)?"


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text.replace("AMOUNT", _AMOUNT), re.IGNORECASE)


# torch up to 1.x: "(GPU 0; 15.78 GiB total capacity; 14.20 GiB already allocated; 12.75 MiB free; 14.30 GiB reserved".
# torch 2.x: "GPU 0 has a total capacity of 15.78 GiB of which 12.75 MiB is free. ... this process has 15.1 GiB memory
# in use. Of the allocated memory 13.2 GiB is allocated by PyTorch, and 1.2 GiB is reserved by PyTorch but unallocated".
_AMOUNTS = {
    "tried": (
        _pattern(r"tried to allocate AMOUNT"),
        _pattern(r"trying to allocate AMOUNT"),
        _pattern(r"out of memory allocating AMOUNT"),
        _pattern(r"allocator \([^)]{1,40}\) ran out of memory trying to allocate AMOUNT"),
    ),
    "total": (
        _pattern(r"AMOUNT total capacity"),
        _pattern(r"total capacity of AMOUNT"),
        _pattern(r"max allowed: AMOUNT"),
        _pattern(r"^\W*Limit:\s{1,40}AMOUNT"),
    ),
    "free": (_pattern(r"of which AMOUNT is free"), _pattern(r"[;(] AMOUNT free")),
    "allocated": (
        _pattern(r"AMOUNT already allocated"),
        _pattern(r"AMOUNT is allocated by PyTorch"),
        _pattern(r"MPS allocated: AMOUNT"),
        _pattern(r"^\W*InUse:\s{1,40}AMOUNT"),
    ),
    "pool": (_pattern(r"AMOUNT (?:reserved in total|cached)"),),
    "unused": (_pattern(r"AMOUNT is reserved by PyTorch but unallocated"),),
    "in_use": (_pattern(r"this process has AMOUNT memory in use"),),
}
_OTHERS = _pattern(r"Process (\d{1,9}) has AMOUNT memory in use")
_SMI = re.compile(r"\|\s{0,8}(\d{1,7})MiB\s{0,3}/\s{0,8}(\d{1,7})MiB\s{0,3}\|")
_SMI_DEVICE = re.compile(r"^\|\s{1,4}(\d{1,3})\s{1,4}\S")
_QUERIED = re.compile(r"(?:^|[,\s])(\d{1,7}) MiB,\s{0,3}(\d{1,7}) MiB(?:[,\s]|$)")
_SUMMARY = _pattern(
    r"^\|\s{0,3}(Allocated memory|Active memory|GPU reserved memory)\s{1,12}\|\s{1,12}AMOUNT\s{0,3}\|\s{1,12}AMOUNT"
)
_DMON_HEAD = re.compile(r"^#\s{0,3}gpu\b.*\bfb\b", re.IGNORECASE)


@dataclass(frozen=True)
class OutOfMemory:
    """The numbers of an out-of-memory message, in bytes; those that it does not tell are missing."""

    amounts: dict[str, int] = field(default_factory=dict)
    others: dict[int, int] = field(default_factory=dict)
    """other processes on the device, by their id"""

    def of(self, name: str) -> int | None:
        """One of tried, total, free, allocated, pool, unused, in_use."""
        return self.amounts.get(name)


@dataclass(frozen=True)
class Usage:
    """Memory in use on a device, as one line of a log tells it."""

    line: int
    what: str
    used: int
    total: int | None = None


def read_out_of_memory(text: str) -> OutOfMemory:
    """Every amount that a message names."""
    amounts: dict[str, int] = {}
    for name, patterns in _AMOUNTS.items():
        for pattern in patterns:
            found = pattern.search(text)
            if found is not None and (size := in_bytes(found[1], found[2])) is not None:
                amounts[name] = size
                break
    others = {int(found[1]): in_bytes(found[2], found[3]) or 0 for found in _OTHERS.finditer(text)}
    if "pool" in amounts and "allocated" in amounts:
        amounts.setdefault("unused", max(0, amounts["pool"] - amounts["allocated"]))
    return OutOfMemory(amounts, others)


def read_usage(lines: Iterable[tuple[int, str]]) -> Iterator[Usage]:
    """The memory that tables of nvidia-smi, its queries and `torch.cuda.memory_summary()` show, line by line."""
    device, column = 0, -1
    for number, line in lines:
        if _DMON_HEAD.match(line):
            column = line.lower().lstrip("# ").split().index("fb")
            continue
        if "MiB" not in line and "memory" not in line and column < 0:
            continue
        named = _SMI_DEVICE.match(line)
        device = int(named[1]) if named else device
        table, query, summary = _SMI.search(line), _QUERIED.search(line), _SUMMARY.match(line)
        if table or query:
            found = table or query
            yield Usage(number, f"GPU {device}", int(found[1]) << 20, int(found[2]) << 20)  # type: ignore[index]
        elif summary and (used := in_bytes(summary[2], summary[3])) is not None:
            yield Usage(number, summary[1].lower(), used)
        elif column >= 0:
            cells = line.split()
            if len(cells) > column and cells[0].isdecimal() and cells[column].isdecimal():
                yield Usage(number, f"GPU {cells[0]}", int(cells[column]) << 20)


def in_bytes(number: str, unit: str | None) -> int | None:
    """`15.78`, `GiB` as bytes; None for what is no number."""
    try:
        size = float(number.replace(",", "").rstrip("."))
    except ValueError:
        return None
    scaled = size * _UNITS.get((unit or "").upper(), 1)
    return int(scaled) if scaled < 1 << 60 else None


def spelt(size: float) -> str:
    """Bytes as people write them: `14.2 GiB`, `512 MiB`."""
    for unit, step in (("TiB", 1 << 40), ("GiB", GIB), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if abs(size) >= step:
            return f"{size / step:.3g} {unit}"
    return f"{size:.0f} B"
