"""The catalog compiled into one file, so that a diagnosis does not parse a hundred of them.

`prompts/failure_modes.json` is generated (`python -m traindx.diagnosis.compiled`) and carries a digest of the files it
was made from: as soon as one of them changes, they are read themselves.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from traindx.definitions.content import PROMPTS
from traindx.definitions.digest import digest_of
from traindx.diagnosis.catalog import FOLDER, FailureMode, read_folder

COMPILED = PROMPTS / "failure_modes.json"


def read_compiled(folder: Path = FOLDER, compiled: Path = COMPILED) -> dict[str, FailureMode] | None:
    """The failure modes of a folder as they were compiled; `None` when that was before the last change."""
    try:
        kept = json.loads(compiled.read_bytes())
        if kept["digest"] != digest_of([(folder, "*.md")]):
            return None
        return {
            name: FailureMode.model_validate(row).model_copy(update={"source": folder / f"{name}.md"})
            for name, row in kept["modes"].items()
        }
    except (OSError, ValueError, KeyError, TypeError):
        return None


def compiled_text(folder: Path = FOLDER) -> str:
    """What the compiled file should hold: one line for each failure mode."""
    rows = [
        f"    {json.dumps(name)}: {mode.model_dump_json(by_alias=True, exclude_defaults=True)}"
        for name, mode in read_folder(folder).items()
    ]
    modes = ",\n".join(rows)
    return f'{{\n  "digest": "{digest_of([(folder, "*.md")])}",\n  "modes": {{\n{modes}\n  }}\n}}\n'


def main(arguments: list[str]) -> int:
    """Write the compiled catalog; with `--check`, say whether it is up to date."""
    if "--check" in arguments:
        fresh = COMPILED.is_file() and COMPILED.read_text(encoding="utf-8") == compiled_text()
        if not fresh:
            sys.stderr.write(f"`{COMPILED.name}` is older than the catalog: run `make catalog`\n")
        return 0 if fresh else 1
    COMPILED.write_text(compiled_text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
