"""A program of the run, parsed, with the places of its lines."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from traindx.readers.code.cells import locator_of
from traindx.readers.code.notebooks import Notebook
from traindx.readers.code.roles import CodeRole
from traindx.readers.code.syntax import Nodes
from traindx.readers.quoting import LONGEST_QUOTE, quote_of

T = TypeVar("T")


def names_among(nodes: Nodes) -> frozenset[str]:
    """The names and attributes among some nodes."""
    return frozenset({node.id for node in nodes.of(ast.Name)} | {node.attr for node in nodes.of(ast.Attribute)})


@dataclass(frozen=True)
class CodeUnit:
    """A Python file or notebook, parsed; `notebook` maps the lines of its code to those of the file."""

    path: str
    tree: ast.Module = field(repr=False)
    traits: frozenset[str]
    roles: frozenset[CodeRole]
    imports: tuple[str, ...] = ()
    """files of the run that it imports"""
    reached: bool = False
    """whether it is an entry point or is imported from one"""
    notebook: Notebook | None = field(default=None, repr=False)
    text: str = field(default="", repr=False, compare=False)
    """the Python file as it was read; of a notebook, its own lines are in `notebook`"""
    _answers: dict[object, Any] = field(default_factory=dict, repr=False, compare=False)

    def once(self, question: object, answer: Callable[[], T]) -> T:
        """An answer about its tree that is worked out on first use, whichever program it is a part of."""
        if question not in self._answers:
            self._answers[question] = answer()
        found: T = self._answers[question]
        return found

    @property
    def source(self) -> str:
        """The text behind the tree: the file, or the code of the notebook's cells."""
        return self.notebook.code if self.notebook else self.text

    def file_line(self, line: int) -> int:
        """The line of the file behind a line of the tree."""
        return self.notebook.file_line(line) if self.notebook else line

    def place(self, line: int) -> str:
        """A line of the tree as people are told of it: `train.py:41`, `train.ipynb, cell 7, line 3`."""
        if self.notebook is not None and 0 < line <= len(self.notebook.places):
            return f"{self.path}, {locator_of(self.notebook, line)}"
        return f"{self.path}:{line}"

    def lines_called(self, place: str) -> Iterator[int]:
        """The lines of the tree that a place names: several, where one line of a notebook's file holds several."""
        if self.notebook is None:
            path, _, line = place.rpartition(":")
            if path == self.path and line.isdecimal():
                yield int(line)
            return
        for at, row in enumerate(self.notebook.places, 1):
            if place in {self.place(at), f"{self.path}:{row.file_line}"}:
                yield at

    def around(self, line: int, reach: int) -> tuple[str, str]:
        """The locator and the text of the lines around a line of the tree, as far as its file or its cell goes."""
        code = self.notebook.code.split("\n") if self.notebook else self._lines
        first, last = max(1, line - reach), min(len(code), line + reach)
        if self.notebook is not None:
            places = self.notebook.places
            cell = places[line - 1].cell
            same = [at for at in range(first, min(last, len(places)) + 1) if places[at - 1].cell == cell]
            first, last = same[0], same[-1]
        while first < line and not code[first - 1].strip():
            first += 1
        while last > line and not code[last - 1].strip():
            last -= 1
        if self.notebook is not None:
            begin = locator_of(self.notebook, first)
            locator = begin.replace(", line ", ", lines ") + f"-{self.notebook.places[last - 1].line}"
        else:
            locator = f"lines {first}-{last}"
        return locator, "\n".join(row.rstrip()[:LONGEST_QUOTE] for row in code[first - 1 : last]).rstrip()

    def quote(self, line: int) -> str:
        """What stands in a line of the tree, as a citation quotes it."""
        if self.notebook:  # one line of its file may hold every cell
            code = self.notebook.code.split("\n")
            return quote_of(code[line - 1]) if 0 < line <= len(code) else ""
        return self.file_quote(line)

    def file_quote(self, line: int) -> str:
        """What stands in a line of the file, as a citation quotes it; of a notebook only lines of code are known."""
        if self.notebook:
            return self.notebook.quotes.get(line, "")
        return quote_of(self._lines[line - 1]) if 0 < line <= len(self._lines) else ""

    @property
    def nodes(self) -> Nodes:
        """Every node of its tree, by kind."""
        return self.once("nodes", lambda: Nodes(self.tree))

    @property
    def bodies(self) -> list[list[ast.stmt]]:
        """The statements of the module, and those of each function in it."""
        found = [self.tree.body, *(function.body for function in self.nodes.of(ast.FunctionDef))]
        return [*found, *(function.body for function in self.nodes.of(ast.AsyncFunctionDef))]

    @property
    def names(self) -> frozenset[str]:
        """Every name and attribute that it uses."""
        return self.once("names", lambda: names_among(self.nodes))

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.split("\n")
