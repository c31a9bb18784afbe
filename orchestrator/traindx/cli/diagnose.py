"""`traindx diagnose PATH -m "what you see"`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traindx.api import Choices
    from traindx.contract import Diagnosis

Commands = argparse._SubParsersAction
LONGEST_TITLE = 300
PATH_HELP = "a run folder, a file from it, a zip or tar, - for a log on standard input; or several of them"


def add(commands: Commands[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "diagnose",
        parents=[shared],
        help="find out why a run went wrong",
        description="Reads the files of a run, sends specialists to investigate, and names the root causes."
        " Nothing in PATH is ever changed.",
    )
    parser.add_argument("path", metavar="PATH", nargs="+", help=PATH_HELP)
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
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the result to FILE instead of stdout")
    parser.add_argument("--specialist", metavar="NAME", help="send this specialist (see `traindx agents`)")
    add_brain_options(parser)
    parser.add_argument(
        "--fail-on",
        choices=("low", "medium", "high", "critical"),
        metavar="SEVERITY",
        help="exit with 1 when a cause of this severity (low, medium, high, critical) or worse is found",
    )


def add_brain_options(parser: argparse.ArgumentParser) -> None:
    """Who investigates, what it may cost, and where the transcript is kept."""
    brain = parser.add_argument_group("model options")
    brain.add_argument(
        "--brain",
        choices=("auto", "local", "claude"),
        default="auto",
        help="auto: Claude when ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN is set, else local",
    )
    brain.add_argument("--model", metavar="NAME", help="opus, sonnet, haiku, fable, or a full id")
    brain.add_argument("--effort", choices=("low", "medium", "high", "xhigh", "max"), help="reasoning effort")
    brain.add_argument("--max-usd", type=float, metavar="USD", help="the most the model may cost (default: 1)")
    brain.add_argument("--max-seconds", type=float, metavar="S", help="the longest the model may take (default: 300)")
    brain.add_argument("--mask-user-names", action="store_true", help="also mask user names in the paths that are sent")
    brain.add_argument("--save-case", metavar="FILE", help="write the transcript to FILE (see `traindx replay`)")
    brain.add_argument("--resume-case", metavar="CASE", help="resume an interrupted investigation from its transcript")


def choices_from(args: argparse.Namespace) -> Choices:
    """The options as the Python API takes them; those not given keep their defaults."""
    names = ("brain", "model", "effort", "max_usd", "max_seconds", "save_case", "resume_case", "specialist")
    given = {name: getattr(args, name, None) for name in names}
    chosen = {name: value for name, value in given.items() if value is not None}
    if getattr(args, "mask_user_names", False):
        chosen["mask_user_names"] = True
    return chosen  # type: ignore[return-value]


def run(args: argparse.Namespace) -> int:
    """Diagnose and print."""
    from traindx.runtime.launch import launch_early

    launch_early()
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
        diagnosis = illustrated(diagnosis, args.path, form, args.plot)
    return show(diagnosis, args, title=_title(args))


def show(diagnosis: Diagnosis, args: argparse.Namespace, title: str) -> int:
    """Print a diagnosis as asked; the exit code says whether `--fail-on` was met."""
    from traindx.cli.output import page_for, write
    from traindx.contract import SEVERITIES
    from traindx.report import render

    form = "json" if args.json else args.format
    write(render(diagnosis, form, page_for(args), title, own_formats(args)), args.output)
    if args.fail_on is None:
        return 0
    bar = SEVERITIES.index(args.fail_on)
    likely = [cause for cause in diagnosis.root_causes if cause.likely]
    return 1 if any(SEVERITIES.index(cause.severity) >= bar for cause in likely) else 0


def own_formats(args: argparse.Namespace) -> list[Path]:
    """Where the project around the run, or around the working folder, keeps report formats of its own."""
    from traindx.definitions.project import Project

    folder = Project.around(Path(next(iter(getattr(args, "path", None) or []), "."))).reports
    return [folder] if folder else []


def _title(args: argparse.Namespace) -> str:
    message = args.message if len(args.message) <= LONGEST_TITLE else f"{args.message[:LONGEST_TITLE]}…"
    said = f': "{message}"' if message else ""
    return f"traindx diagnose {' '.join(args.path)}{said}"
