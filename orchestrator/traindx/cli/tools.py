"""`traindx tools`: what the specialists can do."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from traindx.cli.diagnose import Commands, add_input_options
from traindx.cli.streams import say


def add(commands: Commands[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser("tools", parents=[shared], help="list the tools")
    parser.add_argument(
        "path", metavar="PATH", type=Path, nargs="?", default=Path(), help="a project with .traindx/tools/"
    )
    add_input_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """List them; `--json` gives the full schemas."""
    from traindx.api import open_toolbelt
    from traindx.cli.output import page_for, write
    from traindx.definitions.project import Project
    from traindx.readers import Scope
    from traindx.report.canvas import Canvas
    from traindx.runtime.toolbelt import WITHHELD

    scope = Scope.of(args.path)
    unsandboxed = bool(args.allow_unsandboxed_tools)
    with open_toolbelt(scope, Project.around(scope.root), unsandboxed=unsandboxed) as toolbelt:
        specs = toolbelt.specs()
        for name in toolbelt.withheld:
            say(f"traindx: `{name}` was {WITHHELD}")
        problems = list(toolbelt.problems)
    if problems:
        raise problems[0]
    if args.json:
        write(json.dumps([spec.model_dump() for spec in specs.values()], indent=2) + "\n")
        return 0
    canvas = Canvas(page_for(args))
    for spec in specs.values():
        canvas.text(spec.name, style="bold")
        canvas.text(spec.description, indent=2)
        fields = [
            (f"--{name.replace('_', '-')}", row.get("description", "")) for name, row in _fields(spec.input_schema)
        ]
        canvas.rows(fields, indent=4)
        if args.verbose:
            canvas.rows([(name, words) for name, words in spec.emits.items()], indent=4)
    write(canvas.drawn())
    return 0


def _fields(schema: dict[str, object]) -> list[tuple[str, dict[str, str]]]:
    properties = schema.get("properties", {})
    return list(properties.items()) if isinstance(properties, dict) else []
