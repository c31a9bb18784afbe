"""The published detectors beside traindx, on the labelled corpus and, if given, on a folder of healthy logs.

Usage: python benchmarks/baselines.py [--corpus DIR] [--logs DIR] [--json]. In the folder of `--logs` every file is the
log of a run that ended well.

The comparison is generous to the published rules. They get our reading of every log. A verdict that names a symptom
counts as right when the true cause is any of those that show that way (the table `means` in each file of `baselines/`),
and as no false alarm when one of them is among the labels that a case allows. traindx hears no message from the user,
has to name the cause itself, and is scored twice: by its first cause whatever its confidence, and by causes of at least
0.5 alone. One thing favours traindx: its rules were developed with this corpus at hand, the published ones were not.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from baselines import Rule, find_rules, see

from traindx import diagnose
from traindx.evaluation import LabelledCase, open_cases
from traindx.evaluation.score import ALARM

CORPUS = Path(__file__).parent / "corpus"
Named = list[frozenset[str]]


@dataclass(frozen=True)
class Row:
    """One detector's line in the table; all figures are counts."""

    detector: str
    right_first: int
    right_any: int
    flagged: int
    false_alarms: int
    alarms_on_logs: int | None


@dataclass(frozen=True)
class Table:
    """The whole comparison."""

    failing: int
    healthy: int
    logs: int
    rows: list[Row]


def sagemaker(rules: Sequence[Rule]) -> Rule:
    """The four SageMaker rules attached to one job, as its documentation recommends; the most specific speaks first."""
    order = ("ExplodingTensor", "VanishingGradient", "Overfit", "LossNotDecreasing")
    chosen = [rule for name in order for rule in rules if rule.name == f"SageMaker {name}"]
    return Rule(
        name="SageMaker, all four",
        source=chosen[0].source,
        means={verdict: causes for rule in chosen for verdict, causes in rule.means.items()},
        judge=lambda seen: [verdict for rule in chosen for verdict in rule.judge(seen)],
    )


def ours(path: Path) -> list[tuple[str, float]]:
    """What traindx says of a run: causes with their confidence."""
    return [(cause.id, cause.confidence) for cause in diagnose(path, brain="local").root_causes]


def row(detector: str, cases: Sequence[LabelledCase], said: Sequence[Named], on_logs: Sequence[Named] | None) -> Row:
    """Count what a detector said; `said` is in the order of the cases."""
    both = list(zip(cases, said, strict=True))
    failing = [(set(case.truth.primary), named) for case, named in both if case.truth.expect == "diagnosis"]
    healthy = [(set(case.truth.also), named) for case, named in both if case.truth.expect == "healthy"]
    return Row(
        detector=detector,
        right_first=sum(bool(named and named[0] & right) for right, named in failing),
        right_any=sum(any(causes & right for causes in named) for right, named in failing),
        flagged=sum(bool(named) for _, named in failing),
        false_alarms=sum(any(not causes & allowed for causes in named) for allowed, named in healthy),
        alarms_on_logs=None if on_logs is None else sum(map(bool, on_logs)),
    )


def measure(cases: Sequence[LabelledCase], logs: Sequence[Path]) -> Table:
    """Every detector over every run."""
    found = find_rules()
    rules = [*found, sagemaker(found)]
    runs = [see(case.run) for case in cases]
    logged = [see(path) for path in logs]
    rows = [
        row(rule.name, cases, [rule.named(run) for run in runs], [rule.named(run) for run in logged] if logs else None)
        for rule in rules
    ]
    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(ours, [*(case.run for case in cases), *logs]))
    # A healthy language-model run may be called undertrained below the bar; that is no alarm, in either line.
    sure = [[frozenset({name}) for name, sure in causes if sure >= ALARM] for causes in said]
    first = [
        [frozenset({name}) for name, _ in causes[:3]] if case.truth.expect == "diagnosis" else certain
        for case, causes, certain in zip(cases, said, sure, strict=False)
    ]
    count = len(cases)
    on_logs = sure[count:] if logs else None
    rows.append(row("traindx, causes >= 0.5", cases, sure[:count], on_logs))
    rows.append(row("traindx, first cause", cases, first, on_logs))
    expected = [case.truth.expect for case in cases]
    return Table(expected.count("diagnosis"), expected.count("healthy"), len(logs), rows)


def verdict(table: Table) -> list[str]:
    """Whether our lines are ahead of every other on accuracy and on false alarms; each exception by name."""
    return [_standing(own, table.rows[:-2]) for own in table.rows[-2:]]


def _standing(own: Row, others: Sequence[Row]) -> str:
    alarms = (own.false_alarms, own.alarms_on_logs or 0)
    behind, level = [], []
    for other in others:
        theirs = (other.false_alarms, other.alarms_on_logs or 0)
        if own.right_first <= other.right_first:
            behind.append(f"{other.detector} names {other.right_first} right")
        if any(mine > his for mine, his in zip(alarms, theirs, strict=True)):
            behind.append(f"{other.detector} raises {theirs[0]} false alarms, and {theirs[1]} on logs")
        elif alarms == theirs:
            level.append(other.detector)
    if behind:
        return f"{own.detector}: NOT ahead of every published rule: {'; '.join(behind)}"
    if not level:
        return f"{own.detector}: ahead of every published rule on both accuracy and false alarms"
    equal = f"level with {' and '.join(level)} at {alarms[0]}, and {alarms[1]} on logs"
    return f"{own.detector}: ahead of every published rule on accuracy; on false alarms {equal}, ahead of all others"


def show(table: Table) -> None:
    """Print the table and what it comes to."""
    print(f"{table.failing} failing and {table.healthy} healthy runs, {table.logs} healthy logs")
    titles = ("right first", "right at all", "flagged", "false alarms", "on logs")
    print(f"{'':30}" + "".join(f"{title:>15}" for title in titles))
    for line in table.rows:
        shares = [
            f"{count} ({count / whole:.0%})" if whole else "-"
            for count, whole in (
                (line.right_first, table.failing),
                (line.right_any, table.failing),
                (line.flagged, table.failing),
                (line.false_alarms, table.healthy),
                (line.alarms_on_logs or 0, table.logs),
            )
        ]
        print(f"{line.detector:30}" + "".join(f"{share:>15}" for share in shares))
    for said in verdict(table):
        print(said)


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="labelled cases: a folder or an archive")
    parser.add_argument("--logs", type=Path, help="a folder of logs, all of runs that ended well")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args()
    logs = sorted(path for path in given.logs.iterdir() if path.is_file()) if given.logs else []
    with open_cases(given.corpus) as cases:
        table = measure(cases, logs)
    if given.json:
        print(json.dumps({**asdict(table), "verdict": verdict(table)}, indent=2))
    else:
        show(table)


if __name__ == "__main__":
    main()
