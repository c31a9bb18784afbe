"""Where the file of a monitor lies, and who is told of it."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

from traindx.vocabulary.run_folder import ENVIRONMENT, TELEMETRY
from traindx.vocabulary.telemetry import file_name

_MOST_MONITORS = 100


def placed(folder: str | Path | None, name: str, rank: int | None) -> Path:
    """A file for a monitor of this name in the folder that is given, else that of `traindx run`, else the current one.

    Where another monitor has it open, it gets a number.
    """
    place = Path(os.environ.get(ENVIRONMENT) or "." if folder is None else folder)
    path = place / file_name(name, rank)
    for number in range(2, _MOST_MONITORS):
        if not is_taken(path):
            break
        path = place / file_name(f"{name}.{number}" if name else str(number), rank)
    _tell_run(path)
    return path


def is_taken(path: Path) -> bool:
    """Whether another monitor, of this process or another, writes to a file."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


def _tell_run(path: Path) -> None:
    """Tell `traindx run`, if it started this process, of a file that is not in its folder."""
    run = os.environ.get(ENVIRONMENT)
    with contextlib.suppress(OSError):
        full = path.resolve()
        if run and full.parent != Path(run).resolve():
            with (Path(run) / TELEMETRY).open("a", encoding="utf-8") as file:
                file.write(f"{full}\n")
