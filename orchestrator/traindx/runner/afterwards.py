"""What is diagnosed when a command has failed: what was kept of it, and the program it ran."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from traindx.vocabulary.run_folder import TELEMETRY

LARGEST = 1 << 20
"""bytes of a file named on the command line that may be a program or a configuration"""
MOST_BESIDE = 100
"""programs in the folder of the script: more are a collection, not its modules"""
MOST_TELEMETRY = 8
"""files of telemetry elsewhere, the last ones: a folder may hold a row of runs, each with its own"""
_SUFFIXES = frozenset({".py", ".sh", ".yaml", ".yml", ".json", ".toml", ".ini", ".cfg"})


def to_diagnose(folder: Path, command: Sequence[str]) -> list[Path]:
    """The folder of the run, its telemetry elsewhere, and what the command names: programs, the modules beside them,
    configurations.
    """
    named = [path for word in command if (path := _file(word)) is not None] + list(_module(command))
    found = dict.fromkeys([folder, *_telemetry(folder), *named])
    for script in named:
        if script.suffix == ".py":
            found |= dict.fromkeys(_beside(script))
    return list(found)


def _telemetry(folder: Path) -> list[Path]:
    """The files that monitors of the command wrote to folders of their own."""
    try:
        lines = (folder / TELEMETRY).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return [path for line in lines if (path := Path(line)).is_file()][-MOST_TELEMETRY:]


def _file(word: str) -> Path | None:
    """The file that a word of the command names: `train.py`, `--config=base.yaml`."""
    with contextlib.suppress(OSError, ValueError):
        path = Path(word.rpartition("=")[2])
        if path.suffix.lower() in _SUFFIXES and path.is_file() and path.stat().st_size <= LARGEST:
            return path
    return None


def _module(command: Sequence[str]) -> Iterator[Path]:
    """The file of `python -m package.train`."""
    for flag, name in pairwise(command):
        if flag == "-m":
            base = Path(*name.split("."))
            for path in (base.with_suffix(".py"), base / "__main__.py"):
                if _file(str(path)):
                    yield path


def _beside(script: Path) -> Iterator[Path]:
    """What a script imports from its own folder: modules there, and packages by their folders."""
    folder = script.parent
    try:
        tree = ast.parse(script.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        tree = ast.Module([], [])
    found: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= dict.fromkeys(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found[node.module.split(".")[0]] = None
    for name in list(found)[:MOST_BESIDE]:
        if (folder / f"{name}.py").is_file():
            yield folder / f"{name}.py"
        elif (folder / name / "__init__.py").is_file():
            yield folder / name
