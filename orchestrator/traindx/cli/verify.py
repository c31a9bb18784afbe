"""`traindx verify RUN --fixed NEW_RUN`: whether a fix did what it promised."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from traindx.cli.arguments import run_path, target
from traindx.cli.diagnose import Commands
from traindx.definitions.visible import visible
from traindx.errors import UsageError

if TYPE_CHECKING:
    from traindx.contract import Verification

CONFIRMED, REFUTED, INCONCLUSIVE = 0, 1, 4


def add(commands: Commands[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "verify",
        parents=[shared],
        help="check on a new run whether a fix worked",
        description="Checks what the fix for RUN promised on a run that was made with it; both are only read. Exit"
        " codes: 0 confirmed, 1 refuted, 4 inconclusive, 2 bad usage.",
    )
    parser.add_argument("path", metavar="RUN", type=run_path, help="the run that went wrong")
    parser.add_argument("--fixed", metavar="NEW_RUN", type=run_path, required=True, help="the run with the fix")
    parser.add_argument("-m", "--message", default="", help="what you saw in RUN")
    parser.add_argument("--diagnosis", metavar="FILE", help="the diagnosis of RUN, as `diagnose --json` printed it")
    parser.add_argument("--cause", metavar="ID", default="", help="which of its causes (default: the first)")
    parser.add_argument("--output", type=target, metavar="FILE", help="write the result to FILE instead of stdout")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Verify and print."""
    from traindx.cli.output import write
    from traindx.pipeline.verification.verify import read_diagnosis, verify

    if not args.fixed:
        raise UsageError("which run has the fix? `traindx verify RUN --fixed NEW_RUN`")
    known = read_diagnosis(args.diagnosis) if args.diagnosis else None
    found = verify(args.path, args.fixed, args.message, diagnosis=known, cause=args.cause)
    write(found.model_dump_json(indent=2) + "\n" if args.json else _text(found), args.output)
    return {"confirmed": CONFIRMED, "refuted": REFUTED, "inconclusive": INCONCLUSIVE}[found.verdict]


def _text(found: Verification) -> str:
    marks = {"passed": "ok ", "failed": "NO ", "unknown": "?  "}
    rows = [f"{found.verdict.upper()}  {found.summary}", ""]
    if found.verify:
        rows += [f"To verify: {found.verify}", ""]
    for check in found.checks:
        rows.append(f"  {marks[check.outcome]} {check.what}: {check.why}")
        rows += [
            f"       {one.run}: {one.source}, {one.locator}" + (f"  `{one.quote}`" if one.quote else "")
            for one in check.evidence
        ]
    return "\n".join(visible(row) for row in rows) + "\n"
