"""`traindx agents`: the specialists that can be sent."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from traindx.cli.diagnose import Commands


def add(commands: Commands[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser("agents", parents=[shared], help="list the specialists")
    parser.add_argument(
        "path", metavar="PATH", type=Path, nargs="?", default=Path(), help="a project with .traindx/agents/"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """List them with their tools and report headings."""
    from traindx.api import load_registry
    from traindx.cli.output import page_for, write
    from traindx.definitions.project import Project
    from traindx.report.canvas import Canvas

    specialists = load_registry(Project.around(args.path)).specialists
    if args.json:
        rows = [
            {
                "name": one.name,
                "description": one.definition.description,
                "model": one.definition.model,
                "tools": one.tools,
                "headings": one.headings,
                "source": str(one.source),
            }
            for one in specialists.values()
        ]
        write(json.dumps(rows, indent=2) + "\n")
        return 0
    canvas = Canvas(page_for(args))
    for one in specialists.values():
        canvas.text(one.name, style="bold")
        canvas.text(one.summary, indent=2)
        canvas.rows(
            [
                ("tools", ", ".join(one.tools)),
                ("reports", "; ".join(one.headings)),
                ("file", str(one.source)),
            ],
            indent=2,
        )
    write(canvas.drawn())
    return 0
