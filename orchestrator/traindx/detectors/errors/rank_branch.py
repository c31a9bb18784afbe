"""Code that only some ranks run, around the line where a collective failed."""

from __future__ import annotations

import ast
import re

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite_code
from traindx.detectors.errors.root import Reading
from traindx.detectors.errors.telling import own_frames
from traindx.readers.code.codeunit import CodeUnit

SIGNALS = {"rank-only-branch": "the collective that failed stands in a branch that only some ranks take"}
_RANK = re.compile(r"(?:^|_)rank$|^rank|is_(?:main|master|primary|leader|rank)|main_process|rank_zero|is_global_zero")
_COLLECTIVE = re.compile(r"error-(?:rank-divergence|collective)")


def detect(readings: list[Reading], code: list[CodeUnit]) -> list[Signal]:
    """The branch, where an error of a collective was raised inside one."""
    for one in readings:
        if one.family is None or not _COLLECTIVE.match(one.family.name):
            continue
        for unit, line in own_frames(one.row, code):
            branch = _branch_around(unit.tree, line)
            if branch is not None:
                test = ast.unparse(branch.test)[:80]
                claim = f"only ranks with `{test}` come here, and a collective needs all of them"
                place = cite_code(unit, branch.lineno, claim)
                facts: dict[str, Fact] = {"branch": test, "branch_place": unit.place(branch.lineno)}
                return [Signal(id="rank-only-branch", claim=claim, citations=[place], facts=facts)]
    return []


def _branch_around(tree: ast.Module, line: int) -> ast.If | None:
    """The innermost `if` about ranks whose body holds a line."""
    found: ast.If | None = None
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and node.body[0].lineno <= line <= (node.body[-1].end_lineno or 0):
            names = [part.id if isinstance(part, ast.Name) else part.attr if isinstance(part, ast.Attribute) else ""
                     for part in ast.walk(node.test)]  # fmt: skip
            if any(_RANK.search(name) for name in names) and (found is None or node.lineno > found.lineno):
                found = node
    return found
