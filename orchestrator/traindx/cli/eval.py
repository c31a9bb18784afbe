"""`traindx eval PATH`: run labelled cases and print how good the answers are."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from traindx.cli.diagnose import Commands

if TYPE_CHECKING:
    from traindx.evaluation import Outcome


def add(commands: Commands[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "eval",
        parents=[shared],
        help="measure accuracy, false alarms and calibration on labelled cases",
        description="A case is a folder with `run/` and `truth.yaml`. PATH holds any number, in folders or archives.",
    )
    parser.add_argument("path", metavar="PATH", type=Path, help="a folder of cases, or an archive (zip, tar, tar.gz)")
    parser.add_argument(
        "--totals", action="store_true", help="print the figures only, not which case went wrong: for a frozen batch"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run every case below PATH."""
    from traindx.cli.output import page_for, write
    from traindx.evaluation import evaluate, open_cases, score
    from traindx.evaluation.page import as_text
    from traindx.evaluation.trial import null_listener

    watched = sys.stderr.isatty() and not args.quiet
    with open_cases(args.path) as cases:
        outcomes = evaluate(cases, on_outcome=_tell if watched else null_listener)
    card = score(outcomes, cases)
    if args.totals:
        write(card.model_dump_json(exclude={"confusion"}) + "\n" if args.json else as_text(card, [], page_for(args)))
    elif args.json:
        rows = {"scorecard": card.model_dump(), "outcomes": [row.model_dump() for row in outcomes]}
        write(json.dumps(rows, indent=2) + "\n")
    else:
        write(as_text(card, outcomes, page_for(args)))
    return 0


def _tell(row: Outcome) -> None:
    sys.stderr.write(f"{row.case}\n")
