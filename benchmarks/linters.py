"""Linters of training code side by side on labelled programs: `python benchmarks/linters.py [BATCH ...]`.

TorchFix 0.7 and mldoct 1.0 run in an environment of their own, made on first use; TorchFix with its default rules, of
mldoct what is more than a remark. Their rules have other names, so what counts is kept simple: does a tool say
anything about a faulty program, does it point at the line that the label names (mldoct names no lines), and does it say
anything about a correct one. The programs are those of the blind batches of training code, which our rules have seen.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from traindx.evaluation import LabelledCase, open_cases
from traindx.pipeline.review import review

HERE = Path(__file__).parent
BATCHES = [HERE / "blind" / f"batch-{number}.tar.gz" for number in (17, 18, 20, 21, 24, 27)]
PEERS = HERE / ".peers"
CONFIDENT = 0.7
_PLACE = re.compile(r"([\w./-]+\.py):(\d+)")
_WARNED = re.compile(r"│ (?:WARNING|CRITICAL|ERROR) ")

Linter = Callable[[Path], list[tuple[str, int]]]


def ours(folder: Path) -> list[tuple[str, int]]:
    """Places of `traindx review`, those it is sure of."""
    return [(row.path, row.line) for row in review([str(folder)], diffs=False).findings if row.confidence >= CONFIDENT]


def torchfix(folder: Path) -> list[tuple[str, int]]:
    """Places of TorchFix."""
    printed = _run([str(PEERS / "bin/torchfix"), str(folder)])
    return [(str(Path(path).relative_to(folder)), int(line)) for path, line in _PLACE.findall(printed)]


def mldoct(folder: Path) -> list[tuple[str, int]]:
    """Places of mldoct, which takes one file at a time."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        printed = _run([str(PEERS / "bin/mldoctor"), "check", str(path)])
        found += [(str(path.relative_to(folder)), 0)] * len(_WARNED.findall(printed))
    return found


def _run(command: Sequence[str]) -> str:
    """What a linter prints; nothing where it takes more than two minutes for a file."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False).stdout
    except subprocess.TimeoutExpired:
        return ""


def _peers() -> None:
    if not (PEERS / "bin/mldoctor").exists():
        venv.create(PEERS, with_pip=True)
        wanted = ["torch==2.13.0", "torchfix==0.7.0", "mldoct==1.0.0"]
        subprocess.run([str(PEERS / "bin/pip"), "-q", "install", *wanted], check=True)


def _cases(batches: Sequence[Path]) -> Iterator[LabelledCase]:
    for batch in batches:
        with open_cases(batch) as cases:
            for case in cases:
                if any(case.run.rglob("*.py")):
                    yield case


def main(batches: Sequence[Path]) -> None:
    """Print one line per linter."""
    _peers()
    linters: dict[str, Linter] = {"traindx review": ours, "TorchFix 0.7": torchfix, "mldoct 1.0": mldoct}
    faulty = correct = placed = 0
    said = dict.fromkeys(linters, 0)
    hit = dict.fromkeys(linters, 0)
    wrong = dict.fromkeys(linters, 0)
    seconds = dict.fromkeys(linters, 0.0)
    for case in _cases(batches):
        failing = case.truth.expect == "diagnosis"
        wheres = {where for where in case.truth.where if ":" in where}
        faulty, correct, placed = faulty + failing, correct + (not failing), placed + (failing and bool(wheres))
        for name, linter in linters.items():
            began = time.perf_counter()
            places = linter(case.run)
            seconds[name] += time.perf_counter() - began
            said[name] += failing and bool(places)
            hit[name] += failing and any(f"{path}:{line}" in wheres for path, line in places)
            wrong[name] += not failing and bool(places)
    print(f"{faulty} faulty and {correct} correct programs; {placed} labels name a line")
    print(f"{'':<16}{'says something':>16}{'at the line':>14}{'about correct':>16}{'seconds':>10}")
    for name in linters:
        print(f"{name:<16}{said[name]:>16}{hit[name]:>14}{wrong[name]:>16}{seconds[name]:>10.1f}")


if __name__ == "__main__":
    main([Path(word) for word in sys.argv[1:]] or BATCHES)
