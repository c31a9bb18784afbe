"""What a worker may read: the run, the interpreter and its libraries, our content, the user's tools."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

from traindx.definitions import content
from traindx.runtime.launch import package_folder
from traindx.runtime.scope import Scope

# Shared libraries and time zones; the last two are where NixOS and Guix keep every package.
SYSTEM = (
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/share/zoneinfo",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/nix/store",
    "/gnu/store",
)
# glibc and OpenMP count processors here, and pthread_getattr_np looks for the main thread's stack in `maps`.
PSEUDO_FILES = (
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/self/maps",
    "/proc/self/status",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/kernel/mm/transparent_hugepage",
    "/dev/urandom",
    "/dev/random",
    "/dev/zero",
    "/dev/null",
)


def readable_paths(scope: Scope, import_folders: Sequence[str], tool_folders: Sequence[Path]) -> list[str]:
    """Every file and folder a worker may read, with what lies below; the ones that do not exist are left out."""
    wanted = [
        *(str(scope.root / part) for part in scope.only or (".",)),
        *(stand_in for _, stand_in in scope.stand_ins),
        *(str(path) for path in _interpreter(import_folders)),
        *(str(folder) for folder in (content.TOOLS, content.AGENTS, content.PROMPTS, content.EXAMPLES)),
        *(str(folder) for folder in tool_folders),
        *SYSTEM,
        *PSEUDO_FILES,
    ]
    return [path for path in dict.fromkeys(wanted) if os.path.exists(path)]  # noqa: PTH110 PermissionError is an answer


def _interpreter(import_folders: Sequence[str]) -> Iterator[Path]:
    package = package_folder()
    yield package
    candidates = [
        *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib")),
        *(f"{prefix}/{name}" for prefix in (sys.prefix, sys.base_prefix) for name in ("lib", "lib64", "pyvenv.cfg")),
        *(folder for folder in import_folders if Path(folder) != package.parent or Path(folder, "pydantic").exists()),
        *os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep),
        *(entry for entry in sys.path if entry.endswith(".zip")),
    ]
    for candidate in filter(None, candidates):
        path = Path(candidate).resolve()
        if not _is_too_much(path):
            yield path


def _is_too_much(path: Path) -> bool:
    """The whole disk, or a home folder with all that lies in it."""
    home = Path(os.path.expanduser("~")).resolve()  # noqa: PTH111 Path.home raises where there is none
    return path == path.parent or path in (home, *home.parents)
