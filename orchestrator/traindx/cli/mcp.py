"""`traindx mcp`: the toolbelt for agent hosts."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from traindx.cli.diagnose import Commands
from traindx.cli.streams import say
from traindx.definitions.version import __version__
from traindx.errors import UnreadableInput, UsageError

INSTALL = "`traindx mcp` needs the `mcp` package: pip install 'traindx[mcp]'"


def add(commands: Commands[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "mcp",
        parents=[shared],
        help="serve the tools to an agent host (Model Context Protocol)",
        description="Serves diagnose, gather, inspect, explain, compare_runs and verify_evidence to an agent host over"
        " standard input and output. Only the folders that the host has open can be read, or those of --root."
        " `traindx setup` enters it into the hosts of this machine.",
    )
    parser.add_argument(
        "--root",
        metavar="DIR",
        type=Path,
        action="append",
        default=[],
        help="a folder that may be read; may be repeated",
    )
    parser.add_argument("--all-tools", action="store_true", help="offer every analysis as a tool of its own, too")
    parser.add_argument(
        "--http",
        metavar="PORT",
        type=int,
        nargs="?",
        const=0,
        help="serve over HTTP on 127.0.0.1 instead, behind a token (printed, or $TRAINDX_MCP_TOKEN)",
    )
    parser.add_argument(
        "--expect", metavar="VERSION", help="serve only as this version of traindx, else say so and end"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Serve until the host is gone."""
    if args.expect not in {None, __version__}:
        raise UsageError(f"this is traindx {__version__}, and the plugin is of {args.expect}: install the same version")
    for root in args.root:
        if not root.is_dir():
            raise UnreadableInput(root, "it is no folder")
    if args.http is not None and not 0 <= args.http <= 65535:
        raise UsageError(f"`--http {args.http}`: a port is a number from 0 to 65535")
    try:
        from traindx.mcp.server import TraindxServer
    except ModuleNotFoundError as error:
        if error.name and error.name.split(".")[0] in {"mcp", "mcp_types"}:
            raise UsageError(INSTALL) from None
        raise
    import logging

    # What the package logs of malformed messages is for its developers; the client is told.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    server = TraindxServer(args.root, all_tools=args.all_tools)
    if args.http is not None:
        from traindx.mcp.http import serve_http

        serve_http(server, args.http, _quiet if args.quiet else _tell)
        return 0
    if sys.stdin.isatty() and not args.quiet:
        _tell("waiting for an agent host on standard input; `traindx setup` enters it into yours (Ctrl-C ends)")
    import asyncio

    from traindx.mcp.stdio import serve_stdio

    asyncio.run(serve_stdio(server))
    return 0


def _tell(text: str) -> None:
    say(f"traindx mcp: {text}")


def _quiet(text: str) -> None:  # noqa: ARG001 - the same call as `_tell`
    return
