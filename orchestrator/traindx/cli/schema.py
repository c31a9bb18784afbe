"""`traindx schema NAME`: what programs may rely on, as JSON Schema."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from traindx.cli.diagnose import Commands

if TYPE_CHECKING:
    from traindx.contract import ContextPackage, Diagnosis, Event

NAMES = ("diagnosis", "context", "event")


def add(commands: Commands[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "schema",
        parents=[shared],
        help="print the JSON Schema of what programs get",
        description="diagnosis: what `diagnose --json` prints. context: what `gather --json` prints. event: what"
        " `traindx.stream` yields. Without NAME, all of them in one object.",
    )
    parser.add_argument("name", metavar="NAME", nargs="?", choices=NAMES, help=", ".join(NAMES))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print one schema, or all of them by name."""
    from traindx.cli.output import write
    from traindx.contract import ContextPackage, Diagnosis, Event

    models = dict(zip(NAMES, (Diagnosis, ContextPackage, Event), strict=True))
    schemas = {name: _schema(name, model) for name, model in models.items() if args.name in {None, name}}
    write(json.dumps(schemas[args.name] if args.name else schemas, indent=2) + "\n")
    return 0


def _schema(name: str, model: type[Diagnosis | ContextPackage | Event]) -> dict[str, object]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:traindx:{name}:1",
        **model.model_json_schema(mode="serialization"),
    }
