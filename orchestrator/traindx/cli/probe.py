"""`traindx probe NAME --script train.py`: a short experiment on the user's own code, in a copy of its folder."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from traindx.cli.arguments import amount, size, target
from traindx.cli.diagnose import Commands
from traindx.cli.streams import say
from traindx.definitions.visible import visible
from traindx.errors import UsageError

if TYPE_CHECKING:
    from traindx.monitor.probing.declaration import Probe
    from traindx.monitor.probing.scratch import Plan
    from traindx.monitor.probing.subject import Subject
    from traindx.runtime import ToolResult

DESCRIPTION = (
    "Runs your training script for a few steps, unchanged, in a child process and in a copy of its folder, and watches"
    " what happens inside. Nothing runs before you agree (--yes, or the question). Without NAME: lists the probes."
    " Exit codes: 0 it ran, whatever it found, or there was nothing to look at; 2 it could not."
)


def add(commands: Commands[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "probe",
        parents=[shared],
        help="settle a question with a short experiment on your own code",
        description=DESCRIPTION,
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="which probe; all are listed without it")
    parser.add_argument("--explain", action="store_true", help="print what the probe does and how to read it")
    parser.add_argument("--output", type=target, metavar="FILE", help="also write the result to FILE, as JSON")
    add_subject_options(parser)
    parser.set_defaults(run=run, arguments=[])


def add_subject_options(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """What to run, and within which limits."""
    parser.add_argument("--script", metavar="FILE", help="the training script; its arguments follow after `--`")
    parser.add_argument("--target", metavar="MODULE:FUNCTION", help="a function that returns what the probe takes")
    parser.add_argument("--folder", metavar="DIR", help="what is copied (default: the current folder, or the script's)")
    parser.add_argument("--steps", type=int, metavar="N", help="stop after N steps (default: as the probe needs)")
    parser.add_argument("--epoch-batches", type=int, metavar="N", help="loaders end their epoch after N (default: 8)")
    parser.add_argument("--max-seconds", type=amount, metavar="S", help="the longest it may run (default: 120)")
    parser.add_argument(
        "--max-memory", type=size, default=8 << 30, metavar="SIZE", help="the most memory (default: 8G)"
    )
    parser.add_argument("--allow-network", action="store_true", help="let the script open TCP connections")
    parser.add_argument("-y", "--yes", action="store_true", help="run it without asking")


def run(args: argparse.Namespace) -> int:
    """List, explain, or run one."""
    from traindx.cli.output import write
    from traindx.monitor.probing.declaration import probe_named, probes

    if args.name is None:
        write("".join(f"{probe.name:18} {probe.title}\n" for probe in probes().values()))
        return 0
    probe = probe_named(args.name)
    if args.explain:
        settles = ", ".join(sorted(probe.settles))
        body = "\n\n".join(f"{head}\n{text}" for head, text in probe.sections.items())
        write(f"{probe.title}.\n\n{body}\n\nSettles\n{settles}\n")
        return 0
    result = probed(probe, args)
    if args.output is not None:
        from traindx.monitor.probing.result import result_text

        write(result_text(result), args.output)
    if args.json:
        write(result.model_dump_json(indent=2) + "\n")
    if result.status == "failed":
        raise UsageError(f"`probe {probe.name}` failed: {result.reason}")
    if not args.json:
        write(_text(result))
    return 0


def probed(probe: Probe, args: argparse.Namespace) -> ToolResult:
    """Say what will run, ask, and run it."""
    from traindx.monitor.probing.child import run_child
    from traindx.monitor.probing.scratch import Plan

    subject = subject_from(args, probe)
    if subject.script and probe.watch is None:
        raise UsageError(f"`{probe.name}` needs objects: give `--target MODULE:FUNCTION` (see `--explain`)")
    plan = Plan.of(subject.folder)
    agree(subject, plan, probe.repeats if subject.script else 1, args)
    return run_child(probe, subject, plan)


def subject_from(args: argparse.Namespace, probe: Probe) -> Subject:
    """The script or target, with its limits."""
    from pydantic import ValidationError

    from traindx.monitor.probing.subject import subject_of
    from traindx.monitor.probing.watching import Bounds

    given = {"steps": args.steps, "epoch_batches": args.epoch_batches, "seconds": args.max_seconds}
    try:
        chosen = {name: value for name, value in given.items() if value is not None}
        bounds = Bounds.model_validate({**probe.bounds.model_dump(), **chosen})
    except ValidationError as error:
        problem = error.errors()[0]
        raise UsageError(f"`--{str(problem['loc'][0]).replace('_', '-')}`: {problem['msg'].lower()}") from None
    return subject_of(
        args.script,
        args.target,
        args.folder,
        tuple(getattr(args, "arguments", ())),
        bounds,
        memory_mb=args.max_memory >> 20,
        network=args.allow_network,
    )


def agree(subject: Subject, plan: Plan, times: int, args: argparse.Namespace) -> None:
    """Say exactly what will run; raises `UsageError` where nobody agrees."""
    from traindx.monitor.probing.child import confines, copied_text

    bounds = subject.bounds
    outside = (
        "nothing outside the copy can be written" if confines() else "this system cannot keep it from writing elsewhere"
    )
    network = "TCP is allowed" if subject.network or not confines() else "no TCP connections"
    rows = (
        ("runs", subject.command + (f", {times} times" if times > 1 else "")),
        ("in", copied_text(plan) + (f", at {subject.start}" if subject.start.parts else "")),
        (
            "stops after",
            f"{bounds.steps} optimizer steps ({bounds.epoch_batches} batches per epoch), {bounds.seconds:g} s,"
            f" {subject.memory_mb:,} MB of memory",
        ),
        ("limits", f"{outside}; {network}; the copy is deleted afterwards"),
    )
    if not args.quiet or not args.yes:
        say("traindx: this runs your own code\n" + "\n".join(f"  {name:12} {visible(text)}" for name, text in rows))
    if args.yes:
        return
    if not sys.stdin or not sys.stdin.isatty():
        raise UsageError("nothing was run: add `--yes` to agree")
    say("traindx: run it? [y/N] ")
    if sys.stdin.readline().strip().casefold() not in {"y", "yes"}:
        raise UsageError("nothing was run")


def _text(result: ToolResult) -> str:
    if result.status == "no_data":
        return f"No answer: {visible(result.reason)}\n"
    output = result.output
    rows = [
        str(output["summary"]),
        *dict.fromkeys(
            f"  {place.source}, {place.locator}  > {place.quote}"
            for signal in result.signals
            for place in signal.citations
        ),
        *(f"  this points to `{name}`: traindx explain {name}" for name in _pointed_to(result)),
    ]
    rows += [f"  note: {remark}" for remark in output.get("remarks", [])]
    rows.append(f"  {output.get('steps', 0)} steps, {result.seconds:.1f} s")
    return "\n".join(visible(row) for row in rows) + "\n"


def _pointed_to(result: ToolResult) -> list[str]:
    """The failure modes that the answer all but proves."""
    from traindx.diagnosis.catalog import load_catalog

    found = {signal.id for signal in result.signals}
    return [
        mode.id
        for mode in load_catalog().values()
        if any(speaks.tier != "weak" for name, speaks in mode.speaks_for.items() if name in found)
    ]
