"""Statements that should not be there: rules that are a line of YAML each."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence

from traindx.contract import Signal
from traindx.definitions.rules import CodeRule, load_rules
from traindx.detectors.citing import cite_line
from traindx.readers.code.codeunit import CodeUnit

_COMPOUND = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If, ast.For, ast.AsyncFor, ast.While, ast.With,
    ast.AsyncWith, ast.Try, ast.Match,
)  # fmt: skip
MOST_PLACES = 5
SIGNALS = {rule.name: rule.means for rule in load_rules(CodeRule)}


def detect(code: Sequence[CodeUnit], rules: Sequence[CodeRule]) -> list[Signal]:
    """Every rule that some statement breaks, with the first places."""
    own = {node.name for unit in code for node in ast.walk(unit.tree) if isinstance(node, ast.FunctionDef)}
    statements = {unit.path: list(_statements(unit.tree, own)) for unit in code}
    signals = []
    for rule in rules:
        wanted, unless = re.compile(rule.statement), re.compile(rule.unless) if rule.unless else None
        places = [
            cite_line(unit.path, unit.file_line(line), rule.means)
            for unit in code
            if unless is None or not any(unless.search(text) for _, text in statements[unit.path])
            for line, text in statements[unit.path]
            if wanted.search(text)
        ]
        if places:
            claim = f"{rule.means}: {places[0].source}, {places[0].locator}"
            facts = {"rule_place": f"{places[0].source}:{places[0].locator.removeprefix('line ')}"}
            signals.append(Signal(id=rule.name, claim=claim, citations=places[:MOST_PLACES], facts=dict(facts)))
    return signals


def _statements(tree: ast.AST, own: Collection[str]) -> Iterator[tuple[int, str]]:
    """Simple statements with their lines, written the one way that `ast.unparse` writes them.

    A statement that only calls a method of the program's own is not what a rule about a library means.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not isinstance(node, _COMPOUND) and _method(node) not in own:
            yield node.lineno, ast.unparse(node)


def _method(node: ast.stmt) -> str:
    """The method that a statement consists of: `detach` of `memory.detach()`."""
    call = node.value if isinstance(node, ast.Expr) else None
    return call.func.attr if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else ""
