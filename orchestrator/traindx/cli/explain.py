"""`traindx explain ID`: a failure mode, a fix template or the debugging checklist in full, or the list of them."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from traindx.cli.diagnose import Commands

if TYPE_CHECKING:
    from traindx.contract import ConfigValue


def add(commands: Commands[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "explain", parents=[shared], help="explain a failure mode, a fix or the debugging checklist; or list them all"
    )
    parser.add_argument(
        "id", metavar="ID", nargs="?", help="e.g. learning-rate-too-high, clip-gradients, debugging-checklist"
    )
    parser.add_argument("path", metavar="PATH", nargs="?", help="a run whose own names and values fill in a fix")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print one page, or the list of all."""
    from traindx.cli.output import page_for, write
    from traindx.diagnosis.catalog import load_catalog
    from traindx.diagnosis.references import load_references
    from traindx.diagnosis.templates import load_templates
    from traindx.errors import UnknownName
    from traindx.report.pages import explanation, overview, prose

    catalog, templates, references = load_catalog(), load_templates(), load_references()
    page = page_for(args)
    if args.id in templates:
        text = templates[args.id].filled(*_of_the_run(args.path))
        write(_as_json(args.id, text) if args.json else prose(templates[args.id].title, text, page))
    elif args.id in references:
        write(_as_json(args.id, references[args.id]) if args.json else prose("", references[args.id], page))
    elif args.id is not None and args.id not in catalog:
        raise UnknownName("failure mode", args.id, [*catalog, *templates, *references])
    else:
        chosen = [catalog[args.id]] if args.id else list(catalog.values())
        if args.json:
            write(json.dumps([mode.model_dump() for mode in chosen], indent=2) + "\n")
        else:
            write(explanation(chosen[0], page) if args.id else overview(chosen, page, templates.values(), references))
    return 0


def _as_json(name: str, text: str) -> str:
    return json.dumps({"id": name, "text": text}, indent=2) + "\n"


def _of_the_run(path: str | None) -> tuple[dict[str, str], list[ConfigValue]]:
    """What the run calls things, and its settings."""
    if path is None:
        return {}, []
    from traindx.api import gather_context

    context = gather_context(path)
    return context.names, context.settings
