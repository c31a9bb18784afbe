"""A folder that holds several runs: which they are, and which of them failed."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import PurePosixPath

from traindx.artifacts import Run, RunFile, Scope
from traindx.contract import RunSummary

MOST_RUNS = 50
DEEPEST = 4
_TELLING = frozenset({"log", "metrics"})
# Parts of one run, not runs of their own: a writer per phase, a folder per rank.
_PART = re.compile(r"(train|training|val|valid|validation|test|eval|evaluation|dev|rank|node|worker|gpu|host)[-_]?\d*")


def several_runs(run: Run) -> list[RunSummary]:
    """The runs below a folder, or none when the folder is one run itself."""
    groups = _groups([file for file in run.files if file.role in _TELLING])
    return [_judged(run.scope, path) for path in groups[:MOST_RUNS]]


def _groups(files: list[RunFile]) -> list[str]:
    """Sibling folders that repeat each other's file names, at the shallowest level where they do."""
    paths = [PurePosixPath(file.path) for file in files]
    for depth in range(1, DEEPEST + 1):
        if any(len(path.parts) <= depth for path in paths):
            return []
        inside: dict[PurePosixPath, set[str]] = defaultdict(set)
        for path in paths:
            folder = PurePosixPath(*path.parts[:depth])
            inside[folder].add(re.sub(r"\d+", "0", PurePosixPath(*path.parts[depth:]).as_posix()))
        runs = [folder for folder in inside if not _PART.fullmatch(folder.name.lower())]
        names = [name for folder in runs for name in inside[folder]]
        if any(names.count(name) > 1 for name in set(names)):
            return sorted(folder.as_posix() for folder in runs)
        if len(inside) > 1:
            return []
    return []


def _judged(scope: Scope, path: str) -> RunSummary:
    from traindx.curves import main_loss, shape_of, where  # brings numpy along, which only the worker needs

    run = Run(Scope(scope.root / path))
    error = next((row for row in run.sightings if row.kind == "error"), None)
    if error is not None:
        return RunSummary(path=path, failed=True, why=f"{error.text} ({error.source}:{error.line})")
    loss = main_loss(run.series)
    if loss is None:
        return RunSummary(path=path, failed=False, why="no loss was logged")
    shape = shape_of(loss.values)
    if shape.broke is not None:
        return RunSummary(path=path, failed=True, why=f"the loss breaks at {where(loss, shape.broke)}")
    last = len(loss) - 1
    return RunSummary(path=path, failed=False, why=f"loss {loss.values[last]:.4g} at {where(loss, last)}")
