"""`traindx verify RUN --fixed NEW_RUN`: whether a fix did what it promised."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from traindx.cli.arguments import run_path, target
from traindx.cli.diagnose import Commands
from traindx.cli.probe import add_subject_options, agree, subject_from
from traindx.definitions.visible import visible
from traindx.errors import UsageError

if TYPE_CHECKING:
    from traindx.contract import Diagnosis, Verification

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
    parser.add_argument("--fixed", metavar="NEW_RUN", type=run_path, help="the run with the fix")
    parser.add_argument("-m", "--message", default="", help="what you saw in RUN")
    parser.add_argument("--diagnosis", metavar="FILE", help="the diagnosis of RUN, as `diagnose --json` printed it")
    parser.add_argument("--cause", metavar="ID", default="", help="which of its causes (default: the first)")
    parser.add_argument("--output", type=target, metavar="FILE", help="write the result to FILE instead of stdout")
    probing = parser.add_argument_group(
        "instead of --fixed", "try the fix's diff out: your script runs briefly in a copy, without and with it"
    )
    probing.add_argument("--probe", metavar="NAME", help="the probe that shows the fault (see `traindx probe`)")
    add_subject_options(probing)
    parser.set_defaults(run=run, arguments=[])


def run(args: argparse.Namespace) -> int:
    """Verify and print."""
    from traindx.cli.output import write
    from traindx.pipeline.verification.verify import read_diagnosis, verify

    if bool(args.fixed) == bool(args.probe):
        raise UsageError("give the run with the fix (`--fixed NEW_RUN`), or a probe that tries it out (`--probe NAME`)")
    known = read_diagnosis(args.diagnosis) if args.diagnosis else None
    if args.probe:
        found = _by_probe(args, known)
    else:
        found = verify(args.path, args.fixed, args.message, diagnosis=known, cause=args.cause)
    write(found.model_dump_json(indent=2) + "\n" if args.json else _text(found), args.output)
    return {"confirmed": CONFIRMED, "refuted": REFUTED, "inconclusive": INCONCLUSIVE}[found.verdict]


def _by_probe(args: argparse.Namespace, known: Diagnosis | None) -> Verification:
    """The script before and after the fix's diff."""
    from traindx import diagnose
    from traindx.diagnosis.catalog import load_catalog
    from traindx.monitor.probing.child import run_child
    from traindx.monitor.probing.declaration import probe_named
    from traindx.monitor.probing.scratch import Plan
    from traindx.pipeline.verification.by_probe import verify_by_probe
    from traindx.pipeline.verification.verify import chosen_cause

    probe = probe_named(args.probe)
    if not Path(args.path).is_dir():
        raise UsageError(f"`{args.path}` is no folder: a probe needs the folder that the script runs in")
    args.folder = args.folder or args.path
    subject = subject_from(args, probe)
    plan = Plan.of(subject.folder)
    diagnosis = known or diagnose(args.path, args.message, brain="local")
    cause = chosen_cause(diagnosis, args.cause, args.path)
    agree(subject, plan, 2 * (probe.repeats if subject.script else 1), args)
    return verify_by_probe(
        cause, probe, lambda prepare: run_child(probe, subject, plan, prepare), load_catalog(), args.path
    )


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
