"""Jupyter notebooks: the code of their cells as one Python text, and what the cells printed, each with its place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import BinaryIO, Literal

from traindx.readers.logs.lines import blocks
from traindx.readers.quoting import quote_of
from traindx.readers.tables.jsontext import Leaf, NotJson, leaves

LARGEST = 32 << 20
_MOST_CELLS = 5_000
_MOST_OUTPUT = 8 << 20
_ESCAPES = re.compile(r"\x1b\[[0-9;]{0,40}[A-Za-z]")
# `%time`, `!pip install` and `?help` are IPython's, not Python's.
_MAGIC = re.compile(r"\s*(?:[%!?]|\w[\w., ]{0,80}=\s*[%!])")
_PYTHON_CELL = re.compile(r"%%(?:time|timeit|capture|prun|memit|python3?)\b")
OutputKind = Literal["stdout", "stderr", "error", "result"]


@dataclass(frozen=True)
class CellLine:
    """Where a line stands: the cell (from 1), the line in the cell, and the line of the .ipynb file itself."""

    cell: int
    line: int
    file_line: int


@dataclass(frozen=True)
class CellOutput:
    """What a cell printed, showed, or failed with; `lines` are the file's lines that each line of `text` stands in."""

    cell: int
    kind: OutputKind
    text: str
    lines: tuple[int, ...] = field(repr=False)


@dataclass(frozen=True)
class Notebook:
    """The code of a notebook as one text; line `n` of it stands at `places[n - 1]`."""

    path: str
    code: str
    places: tuple[CellLine, ...] = field(repr=False)
    outputs: tuple[CellOutput, ...] = field(default=(), repr=False)
    counts: tuple[int | None, ...] = ()
    """the execution number of each code cell, None where it never ran"""
    quotes: Mapping[int, str] = field(default_factory=dict, repr=False, compare=False)
    """the code that a line of the .ipynb file holds, by its number, as a citation quotes it"""

    def file_line(self, line: int) -> int:
        """The line of the .ipynb file that holds a line of `code`: what a citation can open."""
        return self.places[line - 1].file_line if 0 < line <= len(self.places) else 1

    @property
    def out_of_order(self) -> bool:
        """Whether the cells ran in another order than they stand in: the results may not be reproducible."""
        ran = [count for count in self.counts if count is not None]
        return any(later < earlier for earlier, later in pairwise(ran))

    def log(self) -> tuple[bytes, tuple[int, ...]]:
        """Everything the cells printed as one log, and the file's line behind each of its lines."""
        text = "\n".join(output.text for output in self.outputs)
        return text.encode(), tuple(line for output in self.outputs for line in output.lines)


@dataclass
class _Output:
    kind: OutputKind = "result"
    pieces: list[Leaf] = field(default_factory=list)
    traceback: list[Leaf] = field(default_factory=list)
    name: str = ""
    said: str = ""
    line: int = 1


@dataclass
class _Cell:
    kind: str = ""
    count: int | None = None
    source: list[Leaf] = field(default_factory=list)
    outputs: dict[int, _Output] = field(default_factory=dict)


def read_notebook(handle: BinaryIO, path: str) -> tuple[Notebook, list[str]]:
    """The code and the outputs of a notebook, and what is to be said about it."""
    text = "".join(text for _, text in blocks(handle, LARGEST + 1))
    remarks = (
        [f"`{path}`: it is larger than {LARGEST >> 20} MB; only its beginning was read"] if len(text) > LARGEST else []
    )
    cells: dict[int, _Cell] = {}
    try:
        for leaf in leaves(text):
            # nbformat 3 keeps its cells under `worksheets`.
            where = leaf.path[2:] if leaf.path[:1] == ("worksheets",) else leaf.path
            if len(where) > 2 and where[0] == "cells" and isinstance(where[1], int) and where[1] < _MOST_CELLS:
                _take(cells.setdefault(where[1], _Cell()), where[2:], leaf)
    except (NotJson, RecursionError) as error:
        if not remarks:
            remarks.append(f"`{path}`: {error}; the cells before that were read")
    notebook = _assembled(path, [cells[place] for place in sorted(cells)])
    if not notebook.code.strip() and not remarks:
        remarks.append(f"`{path}`: a notebook without code")
    lines, code = text.split("\n"), notebook.code.split("\n")
    held: dict[int, list[str]] = {}
    for place, line in zip(notebook.places, code, strict=False):
        held.setdefault(place.file_line, []).append(line)
    quotes = {at: quote_of(rows[0] if len(rows) == 1 else lines[at - 1]) for at, rows in held.items()}
    return replace(notebook, quotes=quotes), remarks


def _take(cell: _Cell, where: tuple[str | int, ...], leaf: Leaf) -> None:
    head = where[0]
    if head == "cell_type":
        cell.kind = str(leaf.value)
    elif head in {"source", "input"}:
        cell.source.append(leaf)
    elif head in {"execution_count", "prompt_number"} and isinstance(leaf.value, int):
        cell.count = leaf.value
    elif head == "outputs" and len(where) > 2 and isinstance(where[1], int):
        output = cell.outputs.setdefault(where[1], _Output(line=leaf.line))
        key = where[2]
        if key == "name" and leaf.value in {"stdout", "stderr"}:
            output.kind = "stderr" if leaf.value == "stderr" else "stdout"
        elif key == "output_type" and leaf.value in {"error", "pyerr"}:
            output.kind = "error"
        elif key == "traceback":
            output.traceback.append(leaf)
        elif key == "ename":
            output.name, output.line = str(leaf.value), leaf.line
        elif key == "evalue":
            output.said = str(leaf.value)
        elif key == "text" or (key == "data" and where[3:4] == ("text/plain",)):
            output.pieces.append(leaf)


def _lines(pieces: list[Leaf]) -> tuple[str, list[int]]:
    """The text of pieces that are mostly one line each, and the file's line of every line of it."""
    text = "".join(str(piece.value) for piece in pieces)
    starts = list(accumulate((str(piece.value).count("\n") for piece in pieces), initial=0))
    lines = [1] * (text.count("\n") + 1)
    for piece, start, end in zip(pieces, starts, starts[1:], strict=False):
        lines[start : end + 1] = [piece.line] * (end + 1 - start)
    return text, lines


def _assembled(path: str, cells: list[_Cell]) -> Notebook:
    code: list[str] = []
    places: list[CellLine] = []
    outputs: list[CellOutput] = []
    spent = 0
    for number, cell in enumerate(cells, 1):
        if cell.kind != "code":
            continue
        text, lines = _lines(cell.source)
        for at, (line, file_line) in enumerate(zip(_python(text), lines, strict=False), 1):
            code.append(line)
            places.append(CellLine(number, at, file_line))
        for output in cell.outputs.values():
            shown = _shown(number, output)
            spent += len(shown.text)
            if shown.text and spent <= _MOST_OUTPUT:
                outputs.append(shown)
    counts = tuple(cell.count for cell in cells if cell.kind == "code")
    return Notebook(path, "\n".join(code) + "\n" if code else "", tuple(places), tuple(outputs), counts)


def _python(text: str) -> list[str]:
    """The lines of a cell, with IPython's own commands turned into comments so that the rest stays Python."""
    lines = text.split("\n")
    foreign = lines[0].startswith("%%") and not _PYTHON_CELL.match(lines[0])
    return [f"# {line}" if foreign else _plain(line) for line in lines]


def _plain(line: str) -> str:
    if not _MAGIC.match(line):
        return line
    # `pass` keeps an `if` or a loop whose only line is a magic whole.
    indent = line[: len(line) - len(line.lstrip())]
    return f"{indent}pass  # {line.strip()}"


def _shown(cell: int, output: _Output) -> CellOutput:
    if output.kind != "error":
        text, lines = _lines(output.pieces)
    elif output.traceback:
        rows = [Leaf(leaf.path, f"{leaf.value}\n", "", leaf.line) for leaf in output.traceback]
        text, lines = _lines(rows)
    else:
        text, lines = f"{output.name}: {output.said}", [output.line] * (output.said.count("\n") + 1)
    text = _ESCAPES.sub("", text)
    if text.endswith("\n"):
        text, lines = text[:-1], lines[:-1]
    return CellOutput(cell, output.kind, text, tuple(lines))
