"""Code with its syntax tree, and new lines for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from traindx.contract import Fact
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.model import is_program


class Unfit(ValueError):
    """Why code cannot be rewritten."""


@dataclass(frozen=True)
class Rewritten:
    """New lines of one file (by the line of its code), and what they do in one sentence."""

    unit: CodeUnit
    lines: Mapping[int, Sequence[str]]
    did: str


@dataclass(frozen=True)
class Source:
    """A program that can be rewritten."""

    unit: CodeUnit
    _new: dict[int, list[str]] = field(default_factory=dict)

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the code, without their ends."""
        text = self.unit.source
        return [line.rstrip("\r") for line in text.split("\n")]

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """Every statement, outer ones first."""
        return [node for node in ast.walk(self.unit.tree) if isinstance(node, ast.stmt)]

    def place(self, line: int) -> str:
        """A line of the code as people are told of it."""
        return self.unit.place(line)

    def statement_at(self, line: int) -> ast.stmt:
        """The innermost statement that holds a line of the code."""
        held = [node for node in self.statements if node.lineno <= line <= (node.end_lineno or node.lineno)]
        if not held:
            raise Unfit(f"no statement stands at {self.place(line)}")
        return max(held, key=lambda node: (node.lineno, node.col_offset))

    def insert_after(self, statement: ast.stmt, text: str) -> None:
        """Put a line behind a statement, in the same block."""
        last = statement.end_lineno or statement.lineno
        rows = self._new.setdefault(last, [self.lines[last - 1]])
        rows.append(self._indent(statement) + text)

    def insert_before(self, statement: ast.stmt, text: str) -> None:
        """Put a line before a statement, in the same block."""
        rows = self._new.setdefault(statement.lineno, [self.lines[statement.lineno - 1]])
        rows.insert(len(rows) - 1, self._indent(statement) + text)

    def replace(self, node: ast.expr | ast.keyword, text: str) -> None:
        """Write something else where an expression of one line stands; of several in one line, the last comes first."""
        if node.lineno != node.end_lineno or node.end_col_offset is None:
            raise Unfit(f"the expression at {self.place(node.lineno)} goes over several lines")
        start, end = (self._column(node.lineno, at) for at in (node.col_offset, node.end_col_offset))
        line = self._new.get(node.lineno, [self.lines[node.lineno - 1]])[-1]
        self._new[node.lineno] = [line[:start] + text + line[end:]]

    def cut(self, line: int, start: int, end: int) -> None:
        """Leave out a part of a line; `start` and `end` count bytes, as syntax trees do."""
        text = self._new.get(line, [self.lines[line - 1]])[-1]
        self._new[line] = [text[: self._column(line, start)] + text[self._column(line, end) :]]

    def remove(self, statement: ast.stmt) -> None:
        """Leave a statement out; it must have its lines to itself and leave others in its block."""
        self._indent(statement)
        if any(statement in block and len(block) == 1 for block in self._blocks()):
            raise Unfit(f"the statement at {self.place(statement.lineno)} is the only one in its block")
        for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1):
            kept = self._new.get(line, [self.lines[line - 1]])
            self._new[line] = [row for row in kept if row != self.lines[line - 1]]

    def _blocks(self) -> Iterator[list[ast.stmt]]:
        for node in ast.walk(self.unit.tree):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if isinstance(block, list) and block:
                    yield block

    def around(self, line: int, *kinds: type[ast.stmt]) -> list[ast.stmt]:
        """The statements of some kinds that hold a line, outermost first."""
        held = [node for node in self.statements if isinstance(node, kinds)]
        found = [node for node in held if node.lineno <= line <= (node.end_lineno or node.lineno)]
        return sorted(found, key=lambda node: (node.lineno, node.col_offset))

    def segment(self, node: ast.expr | ast.keyword) -> str:
        """An expression as it is written."""
        return ast.get_source_segment("\n".join(self.lines), node) or ast.unparse(node)

    def rewritten(self, did: str) -> Rewritten:
        """What has become of the code."""
        return Rewritten(self.unit, self._new, did)

    def _indent(self, statement: ast.stmt) -> str:
        before = self.lines[statement.lineno - 1][: self._column(statement.lineno, statement.col_offset)]
        shared = [
            other
            for other in self.statements
            if other is not statement
            and statement.lineno <= other.lineno <= (statement.end_lineno or 0)
            and not any(other is inner for inner in ast.walk(statement))
        ]
        if before.strip() or shared:
            raise Unfit(f"the statement at {self.place(statement.lineno)} shares its line with others")
        return before

    def _column(self, line: int, offset: int) -> int:
        return len(self.lines[line - 1].encode()[:offset].decode(errors="ignore"))


def at_fact(code: Sequence[CodeUnit], facts: Mapping[str, Fact], name: str) -> tuple[Source, int]:
    """The program and the line of its code that a fact names as `file:line`; raises `Unfit` where there is none."""
    place = str(facts.get(name, ""))
    for unit in programs(code):
        for line in unit.lines_called(place):
            return Source(unit), line
    raise Unfit("the line at fault is not in a program of this folder" if place else "")


def programs(code: Sequence[CodeUnit]) -> Iterator[CodeUnit]:
    """Programs that have a file of their own; those that a log shows cannot be changed."""
    return (unit for unit in code if is_program(unit.path))


def calls(node: ast.AST, *names: str) -> Iterator[ast.Call]:
    """The calls of a function or method below a node."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and getattr(part.func, "attr", getattr(part.func, "id", "")) in names:
            yield part


def called_where_named(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Give a method its parentheses where a statement only names it."""
    source, line = at_fact(code, facts, "named_place")
    statement = source.statement_at(line)
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Attribute):
        raise Unfit(f"the statement at {source.place(line)} names no method")
    text = source.segment(statement.value) + "()"
    source.replace(statement.value, text)
    return source.rewritten(f"The diff calls `{text}` ({source.place(line)}).")
