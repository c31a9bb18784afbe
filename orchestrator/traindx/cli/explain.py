"""`traindx explain ID`: a failure mode in full, or the list of them."""

from __future__ import annotations

import argparse
import json

from traindx.cli.diagnose import Commands


def add(commands: Commands[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser("explain", parents=[shared], help="explain a failure mode, or list them all")
    parser.add_argument("id", metavar="ID", nargs="?", help="e.g. learning-rate-too-high")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print one failure mode, or all of them by specialist."""
    from traindx.cli.output import page_for, write
    from traindx.diagnosis.catalog import load_catalog
    from traindx.errors import UnknownName
    from traindx.report.pages import explanation, overview

    catalog = load_catalog()
    if args.id is not None and args.id not in catalog:
        raise UnknownName("failure mode", args.id, catalog)
    chosen = [catalog[args.id]] if args.id else list(catalog.values())
    if args.json:
        write(json.dumps([mode.model_dump() for mode in chosen], indent=2) + "\n")
        return 0
    page = page_for(args)
    write(explanation(chosen[0], page) if args.id else overview(chosen, page))
    return 0
