"""`traindx gather PATH`: the context package."""

from __future__ import annotations

import argparse
from pathlib import Path

from traindx.cli.diagnose import PATH_HELP, Commands


def add(commands: Commands[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "gather", parents=[shared], help="print what a run left behind, as the specialists get it"
    )
    parser.add_argument("path", metavar="PATH", nargs="+", help=PATH_HELP)
    parser.add_argument("-m", "--message", default="", help="what you see; its symptoms go into the package")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the package to FILE instead of stdout")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Gather and print."""
    from traindx.cli.output import page_for, write
    from traindx.report import render_context
    from traindx.walk import gather_context

    package = gather_context(args.path, args.message)
    write(render_context(package, "json" if args.json else "terminal", page_for(args)), args.output)
    return 0
