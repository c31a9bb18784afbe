"""Names that are sorted as text although they are numbered: `img_10` comes before `img_2`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of

_LISTING = frozenset(["glob", "iglob", "rglob", "listdir", "scandir", "files", "keys", "namelist", "iterdir", "walk"])
_LABELS = re.compile(r"(?:^|_)(?:labels?|targets?|y|ys|classes|gt|truth|scores?|annotations?)(?:_|$)", re.IGNORECASE)
_LOADED = frozenset(["read_csv", "load", "loadtxt", "genfromtxt", "read_json", "read_parquet", "tensor", "array"])
_FILE = re.compile(r"\.(?:npy|npz|png|jpe?g|tiff?|txt|json|wav|flac|pt|pth|h5|bin|dcm|bmp)$", re.IGNORECASE)


_FEW = 8
"""code files of a folder that may belong to one project"""


class TextOrder(NamedTuple):
    """Where names are sorted, and where they are made."""

    unit: CodeUnit
    sorted_at: ast.Call
    labels_at: ast.stmt
    named_in: CodeUnit
    named_at: ast.JoinedStr


def sorted_as_text(units: Sequence[CodeUnit], beside: Sequence[CodeUnit]) -> Iterator[TextOrder]:
    """Sorted listings beside labels that are taken by position, where the names are numbered without zeros: by the
    program itself, or by one beside it that prepares the data.
    """
    found = [(unit, *places) for unit in units for places in unit.once("sorted beside labels", partial(_sorted, unit))]
    if not found:
        return
    folders = {unit.path.rpartition("/")[0] for unit, *_ in found}
    near = [unit for unit in beside if unit.path.rpartition("/")[0] in folders]
    # In a folder of many programs another one's names say nothing of this one's data.
    near = near if len(near) <= _FEW else []
    for unit in {id(unit): unit for unit in (*units, *near)}.values():
        named = unit.once("numbered names", partial(_numbered, unit))
        if named is not None:
            yield from (TextOrder(*row, unit, named) for row in found)
            return


def _sorted(unit: CodeUnit) -> list[tuple[ast.Call, ast.stmt]]:
    """The sorted listings of a file, each with the labels that are taken by position in the same function."""
    if "sorted" not in unit.names or unit.names.isdisjoint(_LISTING):
        return []
    found: list[tuple[ast.Call, ast.stmt]] = []
    for body in unit.bodies:
        own = [node for statement in body for node in _own(statement)]
        sorting = next((node for node in own if isinstance(node, ast.Call) and _sorts_a_listing(node)), None)
        labels = next((node for node in own if isinstance(node, ast.Assign) and _takes_labels(node)), None)
        if sorting is not None and labels is not None:
            found.append((sorting, labels))
    return found


def _numbered(unit: CodeUnit) -> ast.JoinedStr | None:
    """The first name with a number in it that has no leading zeros."""
    counted = _counted(unit)
    return next((node for node in unit.nodes.of(ast.JoinedStr) if _numbers(node, counted)), None)


def _counted(unit: CodeUnit) -> frozenset[str]:
    """The names that count: over a range, an enumeration, by `+= 1`."""
    names = set[str]()
    loops = [(node.target, node.iter) for node in unit.nodes.of(ast.For)]
    loops += [(node.target, node.iter) for node in unit.nodes.of(ast.comprehension)]
    for target, source in loops:
        through = name_of(source.func) if isinstance(source, ast.Call) else ""
        if through in {"range", "enumerate", "trange", "arange", "count", "tqdm", "zip"}:
            names |= {part.id for part in ast.walk(target) if isinstance(part, ast.Name)}
    names |= {node.target.id for node in unit.nodes.of(ast.AugAssign) if isinstance(node.target, ast.Name)}
    names |= {node.arg for node in unit.nodes.of(ast.arg) if getattr(node.annotation, "id", "") == "int"}
    return frozenset(names)


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """A statement and what is inside it, but not functions and classes of its own."""
    yield node
    for part in ast.iter_child_nodes(node):
        if not isinstance(part, ast.FunctionDef | ast.ClassDef):
            yield from _own(part)


def _sorts_a_listing(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Name) or call.func.id != "sorted" or len(call.args) != 1 or call.keywords:
        return False
    names = {getattr(part, "attr", getattr(part, "id", "")) for part in ast.walk(call.args[0])}
    return not names.isdisjoint(_LISTING)


def _takes_labels(node: ast.Assign) -> bool:
    """`self.labels = …` from a file or an array, not looked up by the name of each file."""
    target = node.targets[0]
    if not _LABELS.search(getattr(target, "attr", getattr(target, "id", ""))):
        return False
    if any(isinstance(part, ast.ListComp | ast.DictComp | ast.GeneratorExp) for part in ast.walk(node.value)):
        return False
    called = [part.func for part in ast.walk(node.value) if isinstance(part, ast.Call)]
    calls = {getattr(part, "attr", getattr(part, "id", "")) for part in called}
    read = not calls.isdisjoint(_LOADED) or isinstance(node.value, ast.Subscript)
    return read and not any(isinstance(part, ast.Call) and _sorts_a_listing(part) for part in ast.walk(node.value))


def _numbers(node: ast.JoinedStr, counted: frozenset[str]) -> bool:
    """`f"img_{i}"` or `f"leaf_{n}.npy"`, without leading zeros, as the name of a file or of an array in an archive."""
    for at, part in enumerate(node.values):
        if not isinstance(part, ast.FormattedValue) or part.format_spec is not None:
            continue
        before = node.values[at - 1] if at else None
        after = node.values[at + 1] if at + 1 < len(node.values) else None
        begins = isinstance(before, ast.Constant) and re.search(r"[A-Za-z]{2,}[_-]?$", str(before.value)) is not None
        ends = isinstance(after, ast.Constant) and _FILE.match(str(after.value)) is not None
        keyed = begins and after is None and str(getattr(before, "value", "")).endswith("_")
        counts = isinstance(part.value, ast.BinOp) or (isinstance(part.value, ast.Name) and part.value.id in counted)
        if counts and begins and (ends or keyed):
            return True
    return False
