"""`traindx schema NAME`: what programs may rely on, as JSON Schema."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from traindx.cli.diagnose import Commands

if TYPE_CHECKING:
    from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
    from pydantic_core.core_schema import FloatSchema

    from traindx.contract import Value

NAMES = ("diagnosis", "context", "event", "verification")


def add(commands: Commands[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "schema",
        parents=[shared],
        help="print the JSON Schema of what programs get",
        description="diagnosis: what `diagnose --json` prints. context: what `gather --json` prints. event: what"
        " `traindx.stream` yields. verification: what `verify --json` prints. Without NAME, all of them in one object.",
    )
    parser.add_argument("name", metavar="NAME", nargs="?", choices=NAMES, help=", ".join(NAMES))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print one schema, or all of them by name."""
    from traindx.cli.output import write
    from traindx.contract import ContextPackage, Diagnosis, Event, Verification

    models: dict[str, type[Value]] = dict(zip(NAMES, (Diagnosis, ContextPackage, Event, Verification), strict=True))
    schemas = {name: _schema(name, model) for name, model in models.items() if args.name in {None, name}}
    write(json.dumps(schemas[args.name] if args.name else schemas, indent=2) + "\n")
    return 0


def _schema(name: str, model: type[Value]) -> dict[str, object]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:traindx:{name}:1",
        **model.model_json_schema(mode="serialization", schema_generator=_with_words_for_nan()),
    }


def _with_words_for_nan() -> type[GenerateJsonSchema]:
    """NaN and Inf go through JSON as strings, which the schema of a plain number would forbid."""
    from pydantic.json_schema import GenerateJsonSchema

    class Generator(GenerateJsonSchema):
        def float_schema(self, schema: FloatSchema) -> JsonSchemaValue:
            number = super().float_schema(schema)
            bounded = len(number) > 1
            return number if bounded else {"anyOf": [number, {"enum": ["NaN", "Infinity", "-Infinity"]}]}

    return Generator
