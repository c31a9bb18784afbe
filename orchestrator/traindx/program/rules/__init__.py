"""The rules: one file each, found by scanning this folder. `ID` is the failure mode, `check` looks for it in a program.
A rule that may only suspect says so (`SAYS`).

Beside each rule lies `<its name>.md` with programs that break it and programs that do not; the tests run them all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.readers.code.codebase import not_collecting

FOLDER = Path(__file__).parent
_IGNORED = re.compile(r"#\s*traindx:\s*ignore(?:\[([\w\s,-]*)\])?")


class Rule(NamedTuple):
    """A rule as its file declares it."""

    id: str
    title: str
    """the first line of its docstring"""
    check: Callable[[Analysis], Iterator[Finding]]
    path: Path
    says: tuple[str, ...] = ("proven",)
    """`proven`, `suspected` or both; what a rule does not say is left out"""


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule, by id."""
    found = []
    for path in sorted(FOLDER.glob("*.py")):
        if path.stem != "__init__":
            module = import_module(f"{__name__}.{path.stem}")
            title = (module.__doc__ or "").strip().partition("\n")[0].rstrip(".")
            found.append(Rule(module.ID, title, module.check, path, getattr(module, "SAYS", ("proven",))))
    return tuple(found)


def review(*analyses: Analysis) -> list[Finding]:
    """What the rules find, each place once, what is proven first."""
    found: dict[tuple[str, str], Finding] = {}
    with not_collecting():
        every = [(rule, finding) for rule in rules() for one in analyses for finding in _checked(rule, one)]
    for rule, finding in every:
        if ("proven" if finding.proven else "suspected") not in rule.says or _ignored(finding):
            continue
        known = (finding.rule, finding.place.text)
        if known not in found or (finding.proven and not found[known].proven):
            found[known] = finding
    return sorted(found.values(), key=lambda one: (not one.proven, one.rule, one.place.text))


def _checked(rule: Rule, analysis: Analysis) -> list[Finding]:
    """What one rule finds; expressions nested deeper than Python can go are left alone."""
    try:
        return list(rule.check(analysis))
    except RecursionError:
        return []
    except Exception as error:  # noqa: BLE001 - a fault in one rule costs that rule
        analysis.faults.append(f"{rule.id}: {type(error).__name__}: {error}")
        return []


def _ignored(finding: Finding) -> bool:
    """Whether the line says `# traindx: ignore`, or `# traindx: ignore[this-rule]`."""
    said = _IGNORED.search(finding.place.source)
    if said is None:
        return False
    return said.group(1) is None or finding.rule in {name.strip() for name in said.group(1).split(",")}
