"""What our own tools declare, compiled into one file, so that a diagnosis loads only the tools it calls.

`prompts/tools.json` is generated (`make catalog`) and carries a digest of everything the declarations are made of: as
soon as one of these files changes, the tools are asked themselves.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from traindx.definitions.content import PACKAGE, PROMPTS, TOOLS
from traindx.definitions.digest import digest_of
from traindx.runtime.declaration import ToolSpec

COMPILED = PROMPTS / "tools.json"
_MADE_OF = (
    (TOOLS, "**/*.py"),
    (PACKAGE / "detectors", "**/*.py"),
    (PACKAGE / "monitor" / "probes", "*.py"),
    (PACKAGE / "program" / "rules", "*.py"),
    (PROMPTS / "error_patterns", "*.yaml"),
    (PROMPTS / "code_rules", "*.yaml"),
)


def read_compiled(compiled: Path = COMPILED) -> dict[str, ToolSpec]:
    """Our own tools without their schemas, by name; nothing when that was compiled before the last change."""
    try:
        kept = json.loads(compiled.read_bytes())
        if kept["digest"] != digest_of(_MADE_OF):
            return {}
        return {
            name: ToolSpec.model_validate({**row, "name": name, "source": str(TOOLS / row["source"])})
            for name, row in kept["tools"].items()
        }
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def compiled_text(specs: dict[str, ToolSpec]) -> str:
    """What the compiled file should hold: one line for each tool."""
    rows = []
    for name, spec in sorted(specs.items()):
        plain = spec.model_dump(exclude={"name", "source", "input_schema", "output_schema"}, exclude_defaults=True)
        row = {
            **plain,
            "input_schema": {},
            "output_schema": {},
            "source": Path(spec.source).relative_to(TOOLS).as_posix(),
        }
        rows.append(f"    {json.dumps(name)}: {json.dumps(row, sort_keys=True)}")
    return f'{{\n  "digest": "{digest_of(_MADE_OF)}",\n  "tools": {{\n' + ",\n".join(rows) + "\n  }\n}\n"


def main(arguments: list[str]) -> int:
    """Write the compiled declarations; with `--check`, say whether they are up to date."""
    from traindx.runtime.scope import Scope
    from traindx.runtime.toolbelt import Toolbelt

    with Toolbelt(Scope.of(TOOLS)) as toolbelt:
        wanted = compiled_text(toolbelt.described())
    if "--check" in arguments:
        fresh = COMPILED.is_file() and COMPILED.read_text(encoding="utf-8") == wanted
        if not fresh:
            sys.stderr.write(f"`{COMPILED.name}` is older than the tools: run `make catalog`\n")
        return 0 if fresh else 1
    COMPILED.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
