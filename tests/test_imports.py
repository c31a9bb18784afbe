"""Every package that the engine and the tools import is declared, as a dependency or in an extra."""

import ast
import re
import sys
from functools import cache
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
OURS = {"traindx", "tools", "agents"}


@cache
def imported() -> list[tuple[str, Path, int]]:
    """Top-level modules from elsewhere, with the place of each import, also those inside functions."""
    found = []
    for folder in ("orchestrator/traindx", "tools"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    names = [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom) and not node.level:
                    names = [node.module or ""]
                else:
                    continue
                for name in {name.split(".")[0] for name in names} - OURS - sys.stdlib_module_names:
                    found.append((name, path.relative_to(ROOT), node.lineno))
    return found


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 finds only packages that list their top level")
def test_every_import_is_declared() -> None:
    declared = {normal(re.split(r"[^\w.-]", row)[0]) for row in requires("traindx") or []}
    homes = packages_distributions()
    undeclared = [
        f"{path}:{line}: `{name}`"
        for name, path, line in imported()
        if not declared & {normal(home) for home in homes.get(name, [name])}
    ]
    assert undeclared == []


@pytest.mark.parametrize("name", ["numpy", "anthropic", "pyarrow", "PIL"])
def test_imports_inside_functions_are_seen(name: str) -> None:
    assert name in {found for found, _, _ in imported()}
