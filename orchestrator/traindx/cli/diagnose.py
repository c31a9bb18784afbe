"""`traindx diagnose PATH -m "what you see"`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from traindx.cli.arguments import HERE, amount, run_path, size, target
from traindx.cli.streams import say
from traindx.definitions.choices import BRAINS, EFFORTS, SPECIALISTS, STDIN
from traindx.definitions.visible import visible
from traindx.errors import UnwritableOutput

if TYPE_CHECKING:
    from traindx.api import Choices
    from traindx.contract import Diagnosis

Commands = argparse._SubParsersAction
LONGEST_TITLE = 300
FAIL_ON = ("low", "medium", "high", "critical")
"""the contract's severities, spelled out because importing the contract takes longer than printing the help"""
PATH_HELP = (
    "a run folder, a file from it, a zip or tar, - for a log on standard input; or several of them"
    " (default: the current folder)"
)


def add(commands: Commands[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "diagnose",
        parents=[shared],
        help="find out why a run went wrong",
        description="Reads the files of a run, sends specialists to investigate, and names the root causes."
        " Nothing in PATH is ever changed.",
    )
    parser.add_argument("path", metavar="PATH", nargs="*", type=run_path, help=PATH_HELP)
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the loss curve into FILE (.png or .svg)")
    add_options(parser)
    parser.set_defaults(run=run)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that `diagnose` and `demo` share."""
    parser.add_argument("-m", "--message", default="", help="what you see, in your own words")
    parser.add_argument(
        "--format",
        default="terminal",
        metavar="NAME",
        help="how to print the result: terminal, markdown, json, or a template in `.traindx/reports/`",
    )
    parser.add_argument("--output", type=target, metavar="FILE", help="write the result to FILE instead of stdout")
    parser.add_argument("--specialist", metavar="NAME", help="send this specialist (see `traindx agents`)")
    add_input_options(parser)
    add_brain_options(parser)
    parser.add_argument(
        "--fail-on",
        choices=FAIL_ON,
        metavar="SEVERITY",
        help="exit with 1 when a cause of this severity (low, medium, high, critical) or worse is found",
    )


def add_brain_options(parser: argparse.ArgumentParser) -> None:
    """Who investigates, what it may cost, and where the transcript is kept."""
    brain = parser.add_argument_group("model options")
    brain.add_argument(
        "--brain",
        choices=BRAINS,
        default="auto",
        help="auto: Claude when ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN is set, else local",
    )
    brain.add_argument("--model", metavar="NAME", help="opus, sonnet, haiku, fable, or a full id")
    brain.add_argument("--effort", choices=EFFORTS, help="reasoning effort")
    brain.add_argument(
        "--specialists",
        choices=SPECIALISTS,
        help="needed (default): one first, a second where that is not enough; all: those the request asks for, at once",
    )
    brain.add_argument("--max-usd", type=amount, metavar="USD", help="the most the model may cost (default: 1)")
    brain.add_argument("--max-seconds", type=amount, metavar="S", help="the longest the model may take (default: 300)")
    brain.add_argument(
        "--mask-user-names", action="store_true", default=None, help="also mask user names in the paths that are sent"
    )
    brain.add_argument("--save-case", metavar="FILE", help="write the transcript to FILE (see `traindx replay`)")
    brain.add_argument("--resume-case", metavar="CASE", help="resume an interrupted investigation from its transcript")


def add_input_options(parser: argparse.ArgumentParser) -> None:
    """How much is read, and what may run."""
    parser.add_argument(
        "--max-input",
        type=size,
        metavar="SIZE",
        help="the most to keep of standard input (default: 1G) or to unpack from an archive (default: 2G, and no more"
        " than 100 times its size), e.g. 20G",
    )
    parser.add_argument(
        "--allow-unsandboxed-tools",
        action="store_true",
        default=None,
        help="run the project's own tools (`.traindx/tools/`) even where the system cannot confine them",
    )


def choices_from(args: argparse.Namespace) -> Choices:
    """The options as the Python API takes them; those not given keep their defaults."""
    given = {name: getattr(args, name, None) for name in _CHOICES}
    return {name: value for name, value in given.items() if value is not None}  # type: ignore[return-value]


_CHOICES = (
    "brain", "model", "effort", "max_usd", "max_seconds", "mask_user_names", "save_case", "resume_case", "specialist",
    "specialists",    "max_input", "allow_unsandboxed_tools",
)  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Diagnose and print."""
    from traindx.runtime.launch import launch_early

    launch_early()
    announce(args)
    from traindx.api import diagnose
    from traindx.cli.output import progress
    from traindx.cli.picture import form_of, illustrated
    from traindx.report.render import check_format

    check_format(args.format, own_formats(args))
    form = None if args.plot is None else form_of(args.plot, args.path)
    choices = choices_from(args)
    with progress(args) as listener:
        choices["listener"] = listener
        diagnosis = diagnose(args.path, args.message, **choices)
    if form is not None:
        diagnosis = illustrated(diagnosis, args.path, form, args.plot, args.max_input)
    return show(diagnosis, args, title=_title(args))


def show(diagnosis: Diagnosis, args: argparse.Namespace, title: str) -> int:
    """Print a diagnosis as asked; the exit code says whether `--fail-on` was met, or else whether all was written."""
    from traindx.cli import BAD_USAGE, FOUND, OK
    from traindx.cli.output import page_for, write
    from traindx.contract import SEVERITIES
    from traindx.report import render

    form = "json" if args.json else args.format
    text = render(diagnosis, form, page_for(args), title, own_formats(args))
    unwritten = list(diagnosis.provenance.unwritten)
    try:
        write(text, args.output)
    except UnwritableOutput as error:
        if args.output is None:
            raise
        # The disk filled up meanwhile; what was found out is not lost to that.
        unwritten.append(f"{error}; the result is on standard output instead")
        write(text)
    for trouble in unwritten:
        say(f"traindx: {visible(trouble)}")
    bar = SEVERITIES.index(args.fail_on) if args.fail_on else len(SEVERITIES)
    likely = [cause for cause in diagnosis.root_causes if cause.likely]
    if any(SEVERITIES.index(cause.severity) >= bar for cause in likely):
        return FOUND
    return BAD_USAGE if unwritten else OK


def announce(args: argparse.Namespace) -> None:
    """Say what is being read before anything slow begins; without a path it is the current folder."""
    given, args.path = args.path, args.path or [HERE]
    # Unlike those of `Path`, these raise for no name at all.
    there = all(path == STDIN or os.path.isfile(path) or os.path.isdir(path) for path in args.path)  # noqa: PTH112, PTH113
    if args.quiet or not there:
        return
    names = ", ".join("standard input" if path == STDIN else path for path in args.path)
    say(f"traindx: reading {visible(names) if given else f'the current folder, {visible(str(Path.cwd()))}'}")


def own_formats(args: argparse.Namespace) -> list[Path]:
    """Where the project around the run, or around the working folder, keeps report formats of its own."""
    from traindx.definitions.project import Project

    folder = Project.around(Path(next(iter(getattr(args, "path", None) or []), "."))).reports
    return [folder] if folder else []


def _title(args: argparse.Namespace) -> str:
    message = args.message if len(args.message) <= LONGEST_TITLE else f"{args.message[:LONGEST_TITLE]}…"
    said = f': "{message}"' if message else ""
    return f"traindx diagnose {' '.join(args.path)}{said}"
