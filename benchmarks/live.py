"""A labelled folder of cases with a model behind any Messages endpoint: before our handling, after it, and without it.

Usage: ANTHROPIC_BASE_URL=… ANTHROPIC_API_KEY=… python benchmarks/live.py FOLDER [--model NAME] [--only NAME …]
[--max-usd USD]. FOLDER holds cases (`truth.yaml` and `run/`) or is an archive of them. Without a base URL the SDK's own
service is asked, which costs money: `--max-usd` bounds each case.

*before* is what the model submitted last, taken at its word; *after* is the diagnosis; *local* is the investigator
without a model. For a failing run right means that the first cause held at one half or more is a right one; for a
healthy one, that no cause is.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traindx import diagnose
from traindx.brains.llm.submission import SUBMIT
from traindx.contract import Diagnosis, Evidence
from traindx.diagnosis.evidence import opened_places
from traindx.evaluation import LabelledCase, open_cases
from traindx.evaluation.score import right
from traindx.pipeline.transcript import read_transcript
from traindx.readers import Scope
from traindx.runtime import Toolbelt


@dataclass(frozen=True)
class Row:
    """One case."""

    case: str
    failing: bool
    local: bool
    before: bool
    after: bool
    by_model: bool
    """whether a model's answer came out, and not the local one in its place"""
    turns: int
    tokens: int
    usd: float
    cited: int
    refused: int
    sentences: int
    changed: int


def main() -> None:
    """Run the cases one after the other and print a line for each, then the totals."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--max-usd", type=float, default=1.0)
    args = parser.parse_args()
    rows = []
    print(f"{'case':34} {'kind':8} local before after turns  tokens     $ refused changed")
    with open_cases(args.folder) as cases:
        for case in cases:
            if not args.only or case.name.rsplit("/", 1)[-1] in args.only:
                rows.append(tried(case, {"model": args.model, "max_usd": args.max_usd}))
                print(line(rows[-1]), flush=True)
    print(totals(rows))


def tried(case: LabelledCase, options: dict[str, Any]) -> Row:
    """The case without a model, and with one."""
    alone = diagnose(case.run, case.truth.message, brain="local")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "case.jsonl"
        diagnosis = diagnose(case.run, case.truth.message, brain="claude", save_case=place, **options)
        turns = [entry for entry in read_transcript(place).entries if entry["kind"] == "turn"]
    own = [entry for entry in turns if not entry["who"].endswith("/sceptic")]
    said = submitted(own)
    causes = said.get("causes", [])
    cited = [evidence(piece) for cause in causes for piece in cause.get("evidence", [])]
    with Toolbelt(Scope.of(case.run)) as tools:
        refused = sum(not row.verified for row in opened_places(cited, tools))
    sentences = {cause.id: cause.issue for cause in diagnosis.root_causes}
    kept = [(cause["issue"], sentences[cause["id"]]) for cause in causes if cause.get("id") in sentences]
    return Row(
        case=case.name.rsplit("/", 1)[-1],
        failing=case.truth.expect == "diagnosis",
        local=right(case, alone.status, named(alone)),
        before=right(case, said.get("status", ""), [(row["id"], row["confidence"]) for row in causes]),
        after=right(case, diagnosis.status, named(diagnosis)),
        by_model=diagnosis.provenance.brain != "local",
        turns=len(own),
        tokens=diagnosis.provenance.tokens,
        usd=diagnosis.provenance.cost_usd,
        cited=len(cited),
        refused=refused,
        sentences=len(kept),
        changed=sum(" ".join(old.split()) != new for old, new in kept),
    )


def submitted(turns: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What was submitted last; empty where nothing was."""
    answers = [
        block["input"]
        for entry in turns
        for block in entry["blocks"]
        if block.get("type") == "tool_use" and block.get("name") == SUBMIT
    ]
    return dict(answers[-1]) if answers else {}


def evidence(piece: dict[str, Any]) -> Evidence:
    """A submitted piece as the verifier takes it."""
    given = {key: str(piece.get(key, "")) for key in ("claim", "source", "locator", "quote")}
    return Evidence(kind="direct", **given)


def named(diagnosis: Diagnosis) -> list[tuple[str, float]]:
    """The causes with their confidence."""
    return [(cause.id, cause.confidence) for cause in diagnosis.root_causes]


def line(row: Row) -> str:
    """A case in one line."""
    marks = [("yes" if value else "no") for value in (row.local, row.before, row.after)]
    kind = "failing" if row.failing else "healthy"
    after = marks[2] if row.by_model else f"{marks[2]}*"
    return (
        f"{row.case[:34]:34} {kind:8} {marks[0]:5} {marks[1]:6} {after:5} {row.turns:5} {row.tokens:7} {row.usd:5.2f}"
        f" {row.refused:3}/{row.cited:<3} {row.changed:3}/{row.sentences}"
    )


def totals(rows: Sequence[Row]) -> str:
    """The figures over all cases; `*` marks answers that are the local investigator's because the model failed."""
    if not rows:
        return "no case"
    lines = []
    for what, some in (
        ("failing: first cause right", [row for row in rows if row.failing]),
        ("healthy: no alarm", [row for row in rows if not row.failing]),
    ):
        if some:
            counts = [sum(getattr(row, name) for row in some) for name in ("local", "before", "after")]
            told = " | ".join(
                f"{name} {count} of {len(some)}"
                for name, count in zip(("local alone", "model before", "after"), counts, strict=True)
            )
            lines.append(f"{what}: {told}")
    worse = [row.case for row in rows if not row.after and (row.before or row.local)]
    lines += [
        f"worse than the better of the two: {len(worse)}{': ' + ', '.join(worse) if worse else ''}",
        f"turns: median {statistics.median(row.turns for row in rows):g}; tokens: {sum(row.tokens for row in rows):,};"
        f" ${sum(row.usd for row in rows):.2f}",
        f"citations refused: {sum(row.refused for row in rows)} of {sum(row.cited for row in rows)};"
        f" sentences changed: {sum(row.changed for row in rows)} of {sum(row.sentences for row in rows)}",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
