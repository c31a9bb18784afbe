"""Run the corpus' trainings again, or check that they still do what the committed files show.

    python benchmarks/corpus/regenerate.py [CASE ...]          # run again, replace what is in `run/`
    python benchmarks/corpus/regenerate.py --check [CASE ...]  # run in a copy, compare in kind

A case's `make.yaml` says which files of `run/` are written by hand (`sources`), which commands make the rest
(`steps`, run inside `run/`), and what a step left that the user would not have kept (`drop`).
"""

from __future__ import annotations

import argparse
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict

HERE = Path(__file__).resolve().parent
SECONDS_PER_STEP = 180
# Values may drift with the version of torch or the processor; what a curve does may not.
FACTOR = 2.0
PROJECT_OF_A_USER = "/home/user/project"
PYTHON_OF_A_USER = "/opt/conda"
Figures = dict[str, tuple[bool, float, float]]
# Series that depend on how busy the machine was.
CLOCK = re.compile(r":(?!.*:).*(time|second|_s$|/s$)")
EVENT_FILE = re.compile(r"(events\.out\.tfevents\.\d+)\..+?\.\d+\.(\d+)$")


class Step(BaseModel):
    """One command of a case, and the file its output goes to (appended when several steps name the same)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    run: str
    stdout: str = ""
    fails: bool = False


class Recipe(BaseModel):
    """A case's `make.yaml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sources: tuple[str, ...] = ()
    steps: tuple[Step, ...]
    drop: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What became of a case, in one line."""

    case: str
    ok: bool
    said: str


class TrainingFailed(Exception):
    """A step ended with the wrong exit code, or not in time."""


def recipe_of(case: Path) -> Recipe:
    """Read the case's recipe."""
    return Recipe.model_validate(yaml.safe_load((case / "make.yaml").read_text(encoding="utf-8")))


def train(case: Path, scratch: Path) -> Path:
    """Run a case's steps in a copy below `scratch`; returns the new `run/`."""
    recipe = recipe_of(case)
    run = scratch / "run"
    for name in recipe.sources:
        (run / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(case / "run" / name, run / name)
    run.mkdir(exist_ok=True)
    if (case / "make.py").exists():
        shutil.copy(case / "make.py", scratch)
    for step in recipe.steps:
        _execute(step, run)
    for pattern in recipe.drop:
        for path in run.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    _rename_event_files(run)
    return run


def _execute(step: Step, run: Path) -> None:
    command = [sys.executable if word == "python" else word for word in step.run.split()]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command,
            cwd=run,
            env=environment,
            timeout=SECONDS_PER_STEP,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TrainingFailed(f"`{step.run}` took longer than {SECONDS_PER_STEP} s") from None
    said = done.stdout.decode("utf-8", errors="replace")
    if (done.returncode != 0) != step.fails:
        raise TrainingFailed(f"`{step.run}` ended with {done.returncode}: {said[-600:]}")
    if step.stdout:
        (run / step.stdout).parent.mkdir(parents=True, exist_ok=True)
        with (run / step.stdout).open("a", encoding="utf-8", newline="") as file:
            file.write(said.replace(str(run), PROJECT_OF_A_USER).replace(sys.prefix, PYTHON_OF_A_USER))


def _rename_event_files(run: Path) -> None:
    """TensorBoard writes the host's name and the process id into the file name."""
    for path in run.rglob("events.out.tfevents.*"):
        path.rename(path.with_name(EVENT_FILE.sub(r"\1.node07.4121.\2", path.name)))


def regenerate(case: Path) -> Outcome:
    """Run a case again and put the result in place of its `run/`."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            run = train(case, Path(folder))
        except TrainingFailed as error:
            return Outcome(case.name, False, str(error))
        shutil.rmtree(case / "run", ignore_errors=True)
        shutil.copytree(run, case / "run")
    return Outcome(case.name, True, "trained")


def check(case: Path) -> Outcome:
    """Run a case in a copy and say whether it does the same in kind."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            run = train(case, Path(folder))
        except TrainingFailed as error:
            return Outcome(case.name, False, str(error))
        differences = _differences(_figures(case / "run"), _figures(run))
    return Outcome(case.name, not differences, "; ".join(differences) or "the same in kind")


def _figures(run: Path) -> Figures:
    """For each series of a run folder: whether it holds NaN or Inf, its median level at the start and at the end."""
    import numpy as np

    from traindx.artifacts import Run, Scope

    figures = {}
    for series in Run(Scope.of(run)).series:
        values = np.asarray(series.values, dtype=float)
        finite = values[np.isfinite(values)]
        if finite.size:
            few = max(1, finite.size // 10)
            levels = float(np.median(finite[:few])), float(np.median(finite[-few:]))
            source = EVENT_FILE.sub("events", series.source)
            figures[f"{source}:{series.name}"] = (finite.size < values.size, *levels)
    return figures


def _differences(before: Figures, after: Figures) -> list[str]:
    differences = [f"{name}: no longer there" for name in before.keys() - after.keys()]
    for name in sorted(before.keys() & after.keys()):
        if CLOCK.search(name):
            continue
        (had_nan, *old), (has_nan, *new) = before[name], after[name]
        if had_nan != has_nan:
            differences.append(f"{name}: NaN or Inf {'before only' if had_nan else 'now only'}")
        for where, one, other in zip(("start", "end"), old, new, strict=True):
            if not _alike(one, other):
                differences.append(f"{name}: {where} {one:.4g}, now {other:.4g}")
    return differences


def _alike(one: float, other: float) -> bool:
    if math.isclose(one, other, rel_tol=1e-3, abs_tol=1e-6):
        return True
    return one * other > 0 and 1 / FACTOR <= one / other <= FACTOR


def main() -> int:
    """Do what the command line asks; 1 when a training failed or differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help="names of cases; all when none is given")
    parser.add_argument("--check", action="store_true", help="compare with the committed files, change nothing")
    parser.add_argument("--jobs", type=int, default=2, help="trainings at once")
    arguments = parser.parse_args()
    cases = [HERE / name for name in arguments.cases] or sorted(path.parent for path in HERE.glob("*/make.yaml"))
    if missing := [case.name for case in cases if not (case / "make.yaml").exists()]:
        parser.error(f"no `make.yaml` in {', '.join(missing)}")
    failed = 0
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for outcome in pool.map(check if arguments.check else regenerate, cases):
            print(f"{'ok ' if outcome.ok else 'NOT'} {outcome.case}: {outcome.said}", flush=True)
            failed += not outcome.ok
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
