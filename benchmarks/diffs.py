"""How many failing runs that are diagnosed right get their fix as a diff or are told what is unknown for one.

python benchmarks/diffs.py                          # the corpus and the unseen batches
python benchmarks/diffs.py benchmarks/corpus -v     # with the runs that got none, and why
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from traindx.api import diagnose
from traindx.evaluation.case import LabelledCase, open_cases

HERE = Path(__file__).resolve().parent
EDITABLE = (".py", ".ipynb", ".yaml", ".yml", ".json", ".toml", ".ini", ".cfg", ".sh", ".sbatch", ".slurm")


@dataclass(frozen=True)
class Tried:
    """A failing run whose first cause is right."""

    name: str
    cause: str
    summary: str
    diff: str | None
    known: bool
    """whether the label names a program or a configuration as the place of the fault"""
    refused: str
    """what `git apply --check` says against the diff"""

    @property
    def answered(self) -> bool:
        """Whether there is a diff, or the fix says what is not known for one."""
        return bool(self.diff) or "No diff: " in self.summary


def tried(case: LabelledCase) -> Tried | None:
    """The fix of the first cause; None where that cause is not the right one."""
    named = diagnose(case.run, case.truth.message, brain="local").named
    if not named or named[0].id not in case.truth.primary:
        return None
    fix = named[0].fix
    known = case.truth.where.partition(":")[0].endswith(EDITABLE)
    refused = refusal(fix.diff, case.run) if fix.diff else ""
    return Tried(case.name, named[0].id, fix.summary, fix.diff, known, refused)


def refusal(diff: str, run: Path) -> str:
    """Why a diff does not apply to a copy of the run; empty where it does."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / "run"
        shutil.copytree(run, copy, symlinks=True)
        git = ["git", "-c", "core.autocrlf=false", "apply", "--check", "--whitespace=nowarn", "-"]
        checked = subprocess.run(git, input=diff.encode(), cwd=copy, capture_output=True, check=False)
        return checked.stderr.decode().strip() if checked.returncode else ""


def measure(path: Path, *, verbose: bool) -> tuple[int, ...]:
    """How many runs were diagnosed right and got a diff, in all and where the fault is in a file; diffs that fail."""
    with open_cases(path) as cases, ThreadPoolExecutor(2) as pool:
        failing = [case for case in cases if case.truth.expect == "diagnosis"]
        rows = [row for row in pool.map(tried, failing) if row is not None]
    with_diff = [row for row in rows if row.diff]
    broken = [row for row in with_diff if row.refused]
    print(f"{path.name}: {len(with_diff)} of {len(rows)} have a diff, {len(broken)} of them do not apply")
    for row in rows:
        if not row.answered:
            print(f"  NEITHER DIFF NOR REASON {row.name} ({row.cause}): {row.summary}")
    for row in broken:
        print(f"  DOES NOT APPLY {row.name} ({row.cause}): {row.refused}")
    if verbose:
        for row in rows:
            print(
                f"  {'diff' if row.diff else 'NONE' if row.known else 'none'} {row.name} ({row.cause}): {row.summary}"
            )
            print(*(f"      {line}" for line in (row.diff or "").splitlines()), sep="\n")
        lacking = Counter(row.cause for row in rows if not row.diff)
        print("  without:", ", ".join(f"{cause} {count}" for cause, count in lacking.most_common()))
    placed = [row for row in rows if row.known]
    answered = sum(row.answered for row in rows)
    return len(rows), len(with_diff), len(placed), sum(bool(row.diff) for row in placed), len(broken), answered


def main() -> int:
    """Measure; the exit code is 1 where a diff does not apply, or a fix has neither a diff nor a reason."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("-v", "--verbose", action="store_true")
    given = parser.parse_args()
    paths = given.paths or [HERE / "corpus", *sorted((HERE / "blind").glob("*.tar.gz"))]
    totals = [measure(path, verbose=given.verbose) for path in paths]
    right, with_diff, placed, placed_diff, broken, answered = (sum(column) for column in zip(*totals, strict=True))
    print(f"all: {with_diff} of {right} have a diff ({with_diff / max(right, 1):.0%}), {broken} do not apply")
    share = placed_diff / max(placed, 1)
    print(f"     {placed_diff} of {placed} where the fault stands in a program or a configuration ({share:.0%})")
    print(f"     {answered} of {right} have a diff or say what is unknown ({answered / max(right, 1):.1%})")
    return 1 if broken or answered < right else 0


if __name__ == "__main__":
    raise SystemExit(main())
