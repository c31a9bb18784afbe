"""Files of the repository that are generated for agent hosts.

`python -m traindx.hosts.generated` writes them in a checkout (`make hosts`); with `--check` it says which are old.
"""

from __future__ import annotations

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from traindx.definitions.content import ROOT
from traindx.definitions.version import __version__
from traindx.hosts import guide
from traindx.hosts.manifests import About, manifests
from traindx.hosts.references import references
from traindx.hosts.subagents import subagents


def generated(root: Path = ROOT) -> dict[str, str]:
    """Every generated file by its path in the repository."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    about = About(__version__, project["description"], project["license"], tuple(project["keywords"]))
    return {**manifests(about), **references(), **subagents(), guide.PATH: guide.guide()}


def main(arguments: list[str]) -> int:
    """Write what is not as it should be; with `--check`, name it instead."""
    old = {path: text for path, text in generated().items() if _held(path) != text}
    if "--check" in arguments:
        for path in old:
            sys.stderr.write(f"`{path}` is older than what it is made from: run `make hosts`\n")
        return 1 if old else 0
    for path, text in old.items():
        place = ROOT / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return 0


def _held(path: str) -> str:
    place = ROOT / path
    return place.read_text(encoding="utf-8") if place.is_file() else ""


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
