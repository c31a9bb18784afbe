"""Starting a worker: its interpreter, its import path and its environment.

None of them depends on the folder the user stands in or on what that folder contains.
"""

from __future__ import annotations

import contextlib
import os
import site
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from traindx.definitions import content

# `-S` and our environment leave only the standard library and `''` (the working folder) on the path.
BOOTSTRAP = (
    "import gc, sys; gc.disable(); sys.path[:] = [*filter(None, sys.path), *sys.argv[4:]]; "
    "from traindx.worker import main; main(*map(int, sys.argv[1:4]))"
)
# What may lie outside the site-packages folders, where PYTHONPATH or a `.pth` file led to it.
PACKAGES = (
    "pydantic",
    "pydantic_core",
    "typing_extensions.py",
    "yaml",
    "numpy",
    "jinja2",
    "torch",
    "safetensors",
)
KEPT_VARIABLES = ("PATH", "LANG", "LANGUAGE", "TZ", "PYTHONHOME", "LD_LIBRARY_PATH")


@dataclass(frozen=True)
class Launched:
    """A worker process and the parent's ends of its pipes."""

    process: subprocess.Popen[bytes]
    requests: int
    answers: int
    complaints: int


_WAITING: list[Launched] = []


def launch_early() -> None:
    """Start the next worker now, while this process goes on loading; one that is not needed ends with this process."""
    with contextlib.suppress(OSError, RuntimeError):
        _WAITING.append(launch())


def launch() -> Launched:
    """A worker that waits for its config; raises `OSError` when there is no interpreter to start."""
    if _WAITING:
        return _WAITING.pop()
    take, requests = os.pipe()
    answers, give = os.pipe()
    complaints, complain = os.pipe()
    command = [sys.executable, "-s", "-S", "-c", BOOTSTRAP, str(take), str(give), str(os.getpid())]
    try:
        process = _spawner(os.getpid()).submit(
            subprocess.Popen,
            [*command, *import_folders()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=complain,
            pass_fds=(take, give),
            cwd="/",
            env=environment(),
            start_new_session=True,
        )
        return Launched(process.result(), requests, answers, complaints)
    except BaseException:
        for pipe in (requests, answers, complaints):
            os.close(pipe)
        raise
    finally:
        for pipe in (take, give, complain):
            os.close(pipe)


@lru_cache(maxsize=1)
def _spawner(process: int) -> ThreadPoolExecutor:
    """The thread that starts workers, and stays.

    PR_SET_PDEATHSIG ends a child when the *thread* that started it ends, and our callers come from short-lived
    ones. Threads do not survive a fork: the process number is the key.
    """
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"traindx-spawner-{process}")


def environment() -> dict[str, str]:
    """The variables a worker gets: what an interpreter needs to run, and no secrets."""
    kept = {name: value for name, value in os.environ.items() if name in KEPT_VARIABLES or name.startswith("LC_")}
    threads = str(min(4, os.cpu_count() or 1))
    return {
        **kept,
        "HOME": "/nonexistent",
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        # A plugin of the user's own environment has no business here, and looking for one takes time.
        "PYDANTIC_DISABLE_PLUGINS": "__all__",
        "OMP_NUM_THREADS": threads,
        "MKL_NUM_THREADS": threads,
        # OpenBLAS starts its threads when numpy is imported; a thread older than the sandbox would be outside it.
        "OPENBLAS_NUM_THREADS": "1",
        # glibc gives large pieces of memory back to the system as soon as they are free. A file is read block by block:
        # getting the same pages again for each takes longer than reading it.
        "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
        "MALLOC_TRIM_THRESHOLD_": str(128 << 20),
    }


def import_folders() -> list[str]:
    """Where a worker imports from besides the standard library: site-packages, our package, our dependencies."""
    folders = dict.fromkeys(_site_folders())
    home = package_folder().parent
    missing = [name for name in PACKAGES if not any((Path(folder) / name).exists() for folder in folders)]
    folders.update(dict.fromkeys(entry for entry in sys.path if _is_installed_there(entry, missing)))
    # Last, because a checkout inside a user's project must not let that project's files stand before a package.
    folders.setdefault(str(home))
    return list(folders)


def package_folder() -> Path:
    """The folder of the package `traindx` itself."""
    return content.PACKAGE


def _site_folders() -> Iterator[str]:
    known = {
        *site.getsitepackages([sys.prefix, sys.exec_prefix, sys.base_prefix]),
        site.getusersitepackages(),
    }
    known = {os.path.realpath(folder) for folder in known}
    return (os.path.realpath(entry) for entry in sys.path if entry and os.path.realpath(entry) in known)


def _is_installed_there(entry: str, names: list[str]) -> bool:
    """Whether an installer put one of `names` into the folder: a user's own `numpy.py` has no `*-info` beside it."""
    folder = Path(entry)
    if not entry or not folder.is_absolute() or not folder.is_dir():
        return False
    return any((folder / name).exists() for name in names) and any(folder.glob("*-info"))
