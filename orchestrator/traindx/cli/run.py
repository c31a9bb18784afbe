"""`traindx run -- python train.py …`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from traindx.cli.arguments import amount
from traindx.cli.diagnose import Commands
from traindx.cli.streams import say
from traindx.definitions.choices import BRAINS
from traindx.definitions.visible import visible
from traindx.errors import TraindxError, UsageError


def add(commands: Commands[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "run",
        parents=[shared],
        help="run a training and keep what it says; when it fails, say why",
        usage="traindx run [options] -- COMMAND [ARGUMENT ...]",
        description="Runs COMMAND unchanged: its output, signals and exit code are passed on. Kept in a folder: its"
        " output, its memory and processor use, and how it was started and ended. When it fails, that is diagnosed on"
        " standard error.",
    )
    parser.add_argument("words", metavar="COMMAND", nargs=argparse.REMAINDER, help="the command and its arguments")
    parser.add_argument(
        "--folder", type=Path, metavar="DIR", help="keep everything in DIR (default: a new folder in traindx-runs/)"
    )
    parser.add_argument("-m", "--message", default="", help="what to tell the diagnosis, in your own words")
    parser.add_argument("--no-diagnosis", action="store_true", help="do not diagnose a failed run")
    parser.add_argument(
        "--every", type=amount, default=10.0, metavar="SECONDS", help="time between two samples (default: 10)"
    )
    parser.add_argument(
        "--brain", choices=BRAINS, default="local", help="who diagnoses (default: local, so nothing is sent anywhere)"
    )
    # The result, a diagnosis, goes to stderr: stdout is the command's, and may be closed.
    parser.set_defaults(run=run, output=Path("/dev/stderr"))


def run(args: argparse.Namespace) -> int:
    """Run the command; its exit code is ours, and a signal that killed it kills us."""
    from traindx.runner import Options, carry_out
    from traindx.runner.child import die_of

    words = args.words[1:] if args.words[:1] == ["--"] else args.words
    if not words:
        raise UsageError("there is no command to run: traindx run -- python train.py")
    if not args.every:
        raise UsageError("`--every` is the time between two samples, and cannot be 0")
    outcome = carry_out(Options(tuple(words), args.folder, args.every), _quiet if args.quiet else _tell)
    if outcome.status and outcome.started and not args.no_diagnosis:
        _diagnose(args, outcome.folder, words)
    return die_of(-outcome.status) if outcome.status < 0 else outcome.status


def _tell(text: str) -> None:
    say(f"traindx run: {visible(text)}")


def _quiet(text: str) -> None:  # noqa: ARG001 - the same call as `_tell`
    return


def _diagnose(args: argparse.Namespace, folder: Path, words: list[str]) -> None:
    """Print the diagnosis to stderr; whatever happens, the exit code stays that of the command."""
    try:
        from traindx.api import Choices, diagnose
        from traindx.cli.output import page_on
        from traindx.report import render
        from traindx.runner.afterwards import to_diagnose

        diagnosis = diagnose(to_diagnose(folder, words), args.message, **Choices(brain=args.brain))
        page = page_on(sys.stderr, args)
        say(render(diagnosis, "terminal", page, title=f"traindx diagnose {folder}").rstrip())
    except TraindxError as error:
        _tell(f"no diagnosis: {error}")
    except (Exception, KeyboardInterrupt, SystemExit) as error:  # noqa: BLE001 - a failed diagnosis must not hide how the run ended
        _tell(f"no diagnosis: {type(error).__name__} {error}".rstrip())
