"""`traindx tool NAME PATH …`: one tool by hand, with its input fields as options."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traindx.cli.arguments import HERE, run_path
from traindx.cli.diagnose import Commands, add_input_options
from traindx.cli.picture import FIELD, form_of, without_pictures, write_picture
from traindx.errors import UsageError

if TYPE_CHECKING:
    from traindx.runtime import ToolResult, ToolSpec


def add(commands: Commands[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "tool",
        parents=[shared],
        help="run one tool on a run",
        description="Runs one tool. Its input fields are options: `traindx tool NAME PATH --help` lists them."
        " Several paths are read as one run.",
        add_help=False,
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="see `traindx tools`")
    parser.add_argument("path", metavar="PATH", type=run_path, nargs="?", help="a run folder, or one file from it")
    parser.add_argument("fields", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    add_input_options(parser)
    parser.add_argument("-h", "--help", action="store_true", help="show this, or the options of NAME")
    parser.set_defaults(run=lambda args: run(args, parser))


def run(args: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Call the tool and print its result; `no_data` is an answer, `failed` is exit code 2."""
    from traindx.api import open_toolbelt, resolve_inputs
    from traindx.cli.output import page_for, write
    from traindx.definitions.project import Project
    from traindx.errors import UnknownName
    from traindx.runtime.toolbelt import WITHHELD

    if args.name is None:
        if not args.help:
            raise UsageError("which tool? `traindx tools` lists them")
        parser.print_help()
        return 0
    paths, fields = _paths_and_fields(args)
    with (
        resolve_inputs(paths or [HERE], args.max_input) as (scope, _),
        open_toolbelt(scope, Project.around(scope.root), unsandboxed=bool(args.allow_unsandboxed_tools)) as toolbelt,
    ):
        specs = toolbelt.specs()
        if args.name in toolbelt.withheld:
            raise UsageError(f"`{args.name}` was {WITHHELD}")
        if args.name not in specs:
            raise UnknownName("tool", args.name, specs)
        options = _options(specs[args.name])
        if args.help:
            options.print_help()
            return 0
        if not paths:
            raise UsageError(f"`traindx tool {args.name} PATH`: which run folder or file?")
        given = {name: value for name, value in vars(options.parse_args(fields)).items() if value is not None}
        as_json = bool(given.pop("json", False)) or args.json
        out = given.pop("out", None)
        form = None if out is None else form_of(out, paths)
        if form is not None and "format" in specs[args.name].input_schema.get("properties", {}):
            given["format"] = form
        result = toolbelt.call(args.name, given)
    if form is not None and result.status == "ok":
        write_picture(result, form, out)
    if as_json:
        write(result.model_dump_json(indent=2) + "\n")
    if result.status == "failed":
        raise UsageError(f"`{args.name}` failed: {result.reason}")
    if not as_json:
        write(_text(without_pictures(result), page_for(args)))
        if FIELD in result.output:
            write(f"\nWritten to {out}\n" if out else "\nFor the picture: --out FILE.png, or FILE.svg\n")
    return 0


def _paths_and_fields(args: argparse.Namespace) -> tuple[list[str], list[str]]:
    """The words before the first option are paths too."""
    if args.path is None:
        return [], args.fields
    more = next((at for at, word in enumerate(args.fields) if word.startswith("-")), len(args.fields))
    return [args.path, *map(run_path, args.fields[:more])], args.fields[more:]


def _options(spec: ToolSpec) -> argparse.ArgumentParser:
    """The tool's input schema as command-line options."""
    from traindx.cli.parser import Parser

    parser = Parser(prog=f"traindx tool {spec.name} PATH", description=spec.description)
    for name, field in spec.input_schema.get("properties", {}).items():
        described = str(field.get("description", "")).replace("%", "%%")
        flag = f"--{name.replace('_', '-')}"
        kind = field.get("type", "string")
        if kind == "boolean":
            parser.add_argument(flag, dest=name, action=argparse.BooleanOptionalAction, help=described)
        elif kind == "array" and field.get("items", {}).get("type") == "string":
            parser.add_argument(flag, dest=name, nargs="+", metavar="TEXT", help=described)
        elif kind in _PLAIN:
            parser.add_argument(flag, dest=name, type=_PLAIN[kind], metavar=kind.upper(), help=described)
        else:
            parser.add_argument(flag, dest=name, type=_json_value, metavar="JSON", help=described)
    if FIELD in spec.output_schema.get("properties", {}):
        parser.add_argument("--out", type=Path, metavar="FILE", help="write the picture to FILE (.png or .svg)")
    parser.add_argument("--json", action="store_true", default=None, help="print the result as JSON")
    return parser


def _json_value(text: str) -> Any:
    return json.loads(text)


_PLAIN: dict[str, Any] = {"string": str, "integer": int, "number": float}


def _text(result: ToolResult, page: Any) -> str:
    from traindx.report.pages import as_text

    return as_text(result, page)
