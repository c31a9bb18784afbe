"""The code that grades what a policy does: functions of rewards, and the patterns they look for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from traindx.contract import Citation
from traindx.detectors.citing import cite_code
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of

_GRADER = re.compile(r"reward|grade|score_(?:answer|completion|response)|verif(?:y|ier)", re.IGNORECASE)
_MATCHING = {"match", "fullmatch", "search", "findall", "finditer", "compile"}
_GIVEN_AS = {"reward_funcs", "reward_fn", "reward_function", "compute_score"}
MOST = 3


def graders(code: Sequence[CodeUnit]) -> list[Citation]:
    """Where rewards come from: patterns that answers must match first, then the functions that grade."""
    patterns: list[Citation] = []
    functions: list[Citation] = []
    for unit in code:
        for grader in _functions(unit.tree):
            functions.append(_cite(unit, grader.lineno, f"`{grader.name}` gives the reward"))
            for line in _patterns(unit.tree, grader):
                patterns.append(_cite(unit, line, f"what `{grader.name}` looks for"))
    unique = {(row.source, row.locator): row for row in [*patterns, *functions]}
    return list(unique.values())[:MOST]


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Functions that are called like one that grades, or that a trainer is given as one."""
    given = {
        part.id
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword)
        and node.arg in {"reward_funcs", "reward_fn", "reward_function", "compute_score"}
        for part in ast.walk(node.value)
        if isinstance(part, ast.Name)
    }
    for node in ast.walk(tree):
        returns = isinstance(node, ast.FunctionDef) and any(isinstance(part, ast.Return) for part in ast.walk(node))
        if isinstance(node, ast.FunctionDef) and returns and (_GRADER.search(node.name) or node.name in given):
            yield node


def _patterns(tree: ast.Module, grader: ast.FunctionDef) -> Iterator[int]:
    """Lines of the regular expressions that a function matches with, its own and those that the file names."""
    names = {part.id for part in ast.walk(grader) if isinstance(part, ast.Name)}
    for node in tree.body:
        if isinstance(node, ast.Assign) and names & {name_of(target) for target in node.targets}:
            yield from (node.lineno for part in ast.walk(node.value) if _matches(part))
    for part in ast.walk(grader):
        if _matches(part) and isinstance(part, ast.Call) and any(isinstance(one, ast.Constant) for one in part.args):
            yield part.lineno


def _matches(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and name_of(node.func) in _MATCHING
        and name_of(getattr(node.func, "value", None)) == "re"
    )


def _cite(unit: CodeUnit, line: int, claim: str) -> Citation:
    return cite_code(unit, line, claim)
