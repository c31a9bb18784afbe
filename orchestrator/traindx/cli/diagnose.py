"""`traindx diagnose PATH -m "what you see"`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traindx.contract import Diagnosis

Commands = argparse._SubParsersAction
PATH_HELP = "the run folder, a file of it, a zip or tar, - for a log on standard input; or several of them"


def add(commands: Commands[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "diagnose",
        parents=[shared],
        help="find out why a run went wrong",
        description="Reads what a run left behind, sends specialists to investigate it, and names the root causes."
        " Nothing in PATH is ever changed.",
    )
    parser.add_argument("path", metavar="PATH", nargs="+", help=PATH_HELP)
    add_options(parser)
    parser.set_defaults(run=run)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that `diagnose` and `demo` share."""
    parser.add_argument("-m", "--message", default="", help="what you see, in your own words")
    parser.add_argument(
        "--format",
        choices=("terminal", "markdown", "json"),
        default="terminal",
        help="how to print the result",
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the result to FILE instead of stdout")
    parser.add_argument("--specialist", metavar="NAME", help="send this specialist (see `traindx agents`)")
    parser.add_argument(
        "--fail-on",
        choices=("low", "medium", "high", "critical"),
        metavar="SEVERITY",
        help="exit with 1 when a cause of this severity (low, medium, high, critical) or worse is found",
    )


def run(args: argparse.Namespace) -> int:
    """Diagnose and print."""
    from traindx.cli.progress import progress
    from traindx.walk import diagnose

    with progress(args) as listener:
        diagnosis = diagnose(args.path, args.message, specialist=args.specialist, listener=listener)
    return show(diagnosis, args, title=_title(args))


def show(diagnosis: Diagnosis, args: argparse.Namespace, title: str) -> int:
    """Print a diagnosis as asked; the exit code says whether `--fail-on` was met."""
    from traindx.cli.output import page_for, write
    from traindx.contract import SEVERITIES
    from traindx.report import render

    form = "json" if args.json else args.format
    write(render(diagnosis, form, page_for(args), title), args.output)
    if args.fail_on is None:
        return 0
    bar = SEVERITIES.index(args.fail_on)
    likely = [cause for cause in diagnosis.root_causes if cause.confidence >= 0.5]
    return 1 if any(SEVERITIES.index(cause.severity) >= bar for cause in likely) else 0


def _title(args: argparse.Namespace) -> str:
    said = f': "{args.message}"' if args.message else ""
    return f"traindx diagnose {' '.join(args.path)}{said}"
