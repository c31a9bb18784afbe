"""Resource limits of a worker, and the ones that are reset for each call."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator

_MEGABYTE = 1024 * 1024
_OPEN_FILES = 512


def limit_resources(memory_mb: int) -> None:
    """Cap memory and open files; forbid core dumps and writing into any file."""
    for kind, soft in (
        (resource.RLIMIT_DATA, memory_mb * _MEGABYTE),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
    ):
        _set_soft(kind, soft)


def allow_processor_time(seconds: float) -> None:
    """Give the process `seconds` on every processor from now on.

    The toolbelt ends a slow call by the clock; this ends it where the toolbelt has been stopped and cannot.
    """
    usage = resource.getrusage(resource.RUSAGE_SELF)
    spent = usage.ru_utime + usage.ru_stime
    _set_soft(resource.RLIMIT_CPU, int(spent + seconds * (os.cpu_count() or 1)) + 10)


@contextlib.contextmanager
def room_for_mapping(size: int) -> Iterator[None]:
    """Raise the memory limit by `size` bytes while a file of that size is mapped.

    The kernel counts a private writable mapping, which `torch.load(mmap=True)` makes, as memory from the start,
    though it takes none until it is written to. The toolbelt still watches what is really held.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_DATA)
    if soft == resource.RLIM_INFINITY:
        yield
        return
    _set_soft(resource.RLIMIT_DATA, soft + size)
    try:
        yield
    finally:
        _set_soft(resource.RLIMIT_DATA, soft)


def _set_soft(kind: int, soft: int) -> None:
    """Set a soft limit, or the hard one where that is lower; a system that refuses keeps what it has."""
    _, hard = resource.getrlimit(kind)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))
