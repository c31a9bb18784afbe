"""`traindx gather PATH`: the context package."""

from __future__ import annotations

import argparse

from traindx.cli.arguments import run_path, target
from traindx.cli.diagnose import PATH_HELP, Commands, add_input_options, announce, choices_from


def add(commands: Commands[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "gather", parents=[shared], help="print what was found in a run, as the specialists see it"
    )
    parser.add_argument("path", metavar="PATH", nargs="*", type=run_path, help=PATH_HELP)
    parser.add_argument("-m", "--message", default="", help="what you see; its symptoms go into the package")
    parser.add_argument(
        "--what-leaves",
        action="store_true",
        help="print what `diagnose --brain claude` would send first, and send nothing",
    )
    parser.add_argument("--specialist", metavar="NAME", help="with --what-leaves: the specialist that would be sent")
    parser.add_argument("--model", metavar="NAME", help="with --what-leaves: the model that would be asked")
    parser.add_argument(
        "--mask-user-names", action="store_true", default=None, help="with --what-leaves: mask user names in paths"
    )
    parser.add_argument("--output", type=target, metavar="FILE", help="write the package to FILE instead of stdout")
    add_input_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Gather and print."""
    announce(args)
    from traindx.api import gather_context
    from traindx.cli.output import page_for, write
    from traindx.report import render_context

    if args.what_leaves:
        return _what_leaves(args)
    package = gather_context(args.path, args.message, **choices_from(args))
    write(render_context(package, "json" if args.json else "terminal", page_for(args)), args.output)
    return 0


def _what_leaves(args: argparse.Namespace) -> int:
    """The first request of every specialist, to the letter."""
    import asyncio
    import json

    from traindx.api import what_leaves
    from traindx.cli.output import page_for, write
    from traindx.report.outgoing import as_text

    outgoing = asyncio.run(what_leaves(args.path, args.message, **choices_from(args)))
    if args.json:
        rows = {"masked": dict(outgoing.masked), "url": outgoing.url, "requests": outgoing.requests}
        write(json.dumps(rows, indent=2, ensure_ascii=False) + "\n", args.output)
    else:
        write(as_text(outgoing.url, outgoing.requests, outgoing.masked, page_for(args)), args.output)
    return 0
