"""`traindx chat PATH`: not there yet, and it says so."""

from __future__ import annotations

import argparse

from traindx.cli.diagnose import Commands
from traindx.errors import UsageError


def add(commands: Commands[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser("chat", parents=[shared], help="talk about a run (comes with a later release)")
    parser.add_argument("path", metavar="PATH", nargs="?", default="PATH", help="the run folder")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Point to the command that works today."""
    raise UsageError(f'chat comes with a later release; today: `traindx diagnose {args.path} -m "what you see"`')
