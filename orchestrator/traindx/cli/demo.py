"""`traindx demo`: a diagnosis of a run that ships with the package."""

from __future__ import annotations

import argparse

from traindx.cli.diagnose import Commands, add_options, choices_from, show

EXAMPLE = "schedule-change"
MESSAGE = "My model trained fine until epoch 7, then the loss went up and never came back."


def add(commands: Commands[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser("demo", parents=[shared], help="diagnose a broken run that ships with traindx")
    add_options(parser)
    # A demonstration costs nothing, whatever key is set.
    parser.set_defaults(run=run, message=MESSAGE, brain="local")


def run(args: argparse.Namespace) -> int:
    """Diagnose the bundled run."""
    from traindx.runtime.launch import launch_early

    launch_early()
    from traindx.api import diagnose
    from traindx.cli.output import progress
    from traindx.definitions.content import EXAMPLES

    choices = choices_from(args)
    with progress(args) as listener:
        choices["listener"] = listener
        diagnosis = diagnose(EXAMPLES / EXAMPLE, args.message, **choices)
    return show(diagnosis, args, title=f'traindx diagnose examples/{EXAMPLE} -m "{args.message}"')
