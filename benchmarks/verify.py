"""What `traindx verify` says to every broken run and its repaired twin, and to the broken run against itself.

`python benchmarks/verify.py [CASE ...]`: a twin should confirm the fix, the same run should refute it, and a run of
another task, given by mistake, should confirm nothing.
"""

import sys
from collections import Counter
from itertools import permutations
from pathlib import Path

from traindx.contract import RootCause
from traindx.definitions.content import EXAMPLES
from traindx.diagnosis.catalog import load_catalog
from traindx.errors import TraindxError
from traindx.evaluation.case import find_cases
from traindx.pipeline.verification.seen import Seen, see
from traindx.pipeline.verification.verify import verdict

CORPUS = Path(__file__).parent / "corpus"
TWIN = "-healthy"


def pairs() -> dict[str, tuple[Path, Path, str]]:
    """Name -> the broken run, the repaired one, what the user saw."""
    cases = {case.name: case for case in find_cases(CORPUS)}
    found = {
        name: (case.run, cases[name + TWIN].run, case.truth.message)
        for name, case in cases.items()
        if name + TWIN in cases
    }
    found["schedule-change"] = (EXAMPLES / "schedule-change", EXAMPLES / "schedule-change-healthy", "")
    lstm = EXAMPLES / "frequency-lstm"
    for run in sorted(lstm.iterdir()):
        if run.is_dir() and run.name != "correct":
            found[run.name] = (run, lstm / "correct", "")
    return found


def main(names: list[str]) -> None:
    """Print a line for each pair, and the totals."""
    catalog, said = load_catalog(), Counter[str]()
    seen: dict[str, tuple[RootCause, Seen, Seen]] = {}
    print(f"{'case':32} {'cause':28} {'twin':14} {'itself':14} why not confirmed")
    for name, (broken, repaired, message) in pairs().items():
        if names and name not in names:
            continue
        try:
            before, after = see(broken, message), see(repaired, "")
        except TraindxError as error:
            print(f"{name:32} {error}")
            said["not compared"] += 1
            continue
        cause = next((one for one in before.diagnosis.root_causes if one.likely), None)
        if cause is None:
            print(f"{name:32} no cause was found")
            said["no cause"] += 1
            continue
        seen[name] = cause, before, after
        twin, itself = verdict(cause, before, after, catalog), verdict(cause, before, before, catalog)
        said[f"twin {twin.verdict}"] += 1
        said[f"itself {itself.verdict}"] += 1
        why = "" if twin.verdict == "confirmed" else twin.summary
        print(f"{name:32} {cause.id:28} {twin.verdict:14} {itself.verdict:14} {why}")
    for (one, (cause, before, _)), (other, (_, broken_run, repaired_run)) in permutations(seen.items(), 2):
        if pairs_of_one_task(one, other):
            continue
        said[f"another task's repaired run {verdict(cause, before, repaired_run, catalog).verdict}"] += 1
        said[f"another task's broken run {verdict(cause, before, broken_run, catalog).verdict}"] += 1
    print("\n" + "\n".join(f"{count:5} {what}" for what, count in sorted(said.items())))


def pairs_of_one_task(one: str, other: str) -> bool:
    """The variants of the frequency example share their repaired run."""
    variants = {path.name for path in (EXAMPLES / "frequency-lstm").iterdir()}
    return one in variants and other in variants


if __name__ == "__main__":
    main(sys.argv[1:])
