"""Data sets of the program itself that list their files folder by folder, with the folder as the label."""

from __future__ import annotations

import ast

from traindx.program.values import Class, Function, Place

_LISTING = frozenset({"glob", "rglob", "iterdir", "listdir", "scandir"})
_MIXING = frozenset({"shuffle", "sample", "permutation", "randperm", "choice", "randint", "randrange", "interleave"})


def in_folders(cls: Class) -> Place | None:
    """The loop that puts one class after the other: over folders, inside it over the files of the folder."""
    init = cls.find("__init__")
    if not isinstance(init, Function) or _calls(cls.node, _MIXING):
        return None
    for node in ast.walk(init.node):
        if isinstance(node, ast.ListComp) and len(node.generators) > 1:
            outer, inner = node.generators[0], node.generators[1]
            if _nested(outer.target, outer.iter, inner.iter) and _labelled(node.elt, outer.target):
                return Place(init.unit, node)
        if isinstance(node, ast.For):
            found = next((part for part in ast.walk(node) if part is not node and isinstance(part, ast.For)), None)
            if found is not None and _nested(node.target, node.iter, found.iter) and _appends(found, node):
                return Place(init.unit, node)
    return None


def in_classes(cls: Class) -> Place | None:
    """Where samples are listed with the class as the outer loop: `(x, label)` for one label after the other, of which
    `__getitem__` gives the second as the target.
    """
    init = cls.find("__init__")
    if not isinstance(init, Function) or _calls(cls.node, _MIXING) or not _gives_second(cls):
        return None
    for node in ast.walk(init.node):
        if isinstance(node, ast.ListComp) and len(node.generators) == 2:
            if _is_pair(node.elt, node.generators[0].target):
                return Place(init.unit, node)
        elif isinstance(node, ast.For) and _grows(node):
            return Place(init.unit, node)
    return None


def _grows(loop: ast.For) -> bool:
    """Whether a loop over labels adds several pairs of a sample and its label in each round."""
    for node in ast.walk(loop):
        added = node.value if isinstance(node, ast.AugAssign) else _given_to(node, "extend")
        if isinstance(added, ast.ListComp | ast.GeneratorExp) and _is_pair(added.elt, loop.target):
            return True
        if isinstance(node, ast.For) and node is not loop:
            appended = [row for part in ast.walk(node) if (row := _given_to(part, "append")) is not None]
            if any(_is_pair(row, loop.target) for row in appended):
                return True
    return False


def _given_to(node: ast.AST, name: str) -> ast.expr | None:
    """What a method of this name is given, if a node is a call of one."""
    called = isinstance(node, ast.Call) and getattr(node.func, "attr", "") == name and len(node.args) == 1
    return node.args[0] if called and isinstance(node, ast.Call) else None


def _is_pair(row: ast.expr, target: ast.expr) -> bool:
    """`(sample, label)` with the variable of the outer loop, or the first of two, as the label."""
    first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
    if not isinstance(row, ast.Tuple) or len(row.elts) != 2 or not isinstance(first, ast.Name):
        return False
    return isinstance(row.elts[1], ast.Name) and row.elts[1].id == first.id


def _gives_second(cls: Class) -> bool:
    """Whether `__getitem__` unpacks a pair and gives its second part as the last of what it returns."""
    function = cls.find("__getitem__")
    node = function.node if isinstance(function, Function) else None
    seconds = {
        part.targets[0].elts[1].id
        for part in (ast.walk(node) if node is not None else ())
        if isinstance(part, ast.Assign) and isinstance(part.value, ast.Subscript)
        if isinstance(part.targets[0], ast.Tuple) and len(part.targets[0].elts) == 2
        if isinstance(part.targets[0].elts[1], ast.Name)
    }
    returned = [part.value for part in (ast.walk(node) if node is not None else ()) if isinstance(part, ast.Return)]
    last = [value.elts[-1] for value in returned if isinstance(value, ast.Tuple) and value.elts]
    return bool(seconds) and len(last) == len(returned) == 1 and bool(_names(last[0]) & seconds)


def _nested(target: ast.expr, outer: ast.expr, inner: ast.expr) -> bool:
    """Whether the inner loop lists what lies in the folder that the outer loop is at."""
    return bool(_calls(inner, _LISTING)) and bool(_names(target) & _names(inner)) and not _calls(outer, {"range"})


def _labelled(row: ast.expr, target: ast.expr) -> bool:
    """Whether a pair of file and label is made, the label from the folder."""
    return isinstance(row, ast.Tuple) and len(row.elts) == 2 and bool(_names(row.elts[1]) & _names(target))


def _appends(inner: ast.For, outer: ast.For) -> bool:
    """Whether the inner loop appends pairs whose label the outer loop has set."""
    set_outside = _names(outer.target) | {
        name
        for part in outer.body
        if isinstance(part, ast.Assign)
        for target in part.targets
        for name in _names(target)
    }
    for node in ast.walk(inner):
        if not isinstance(node, ast.Call) or getattr(node.func, "attr", "") != "append" or not node.args:
            continue
        row = node.args[0]
        if isinstance(row, ast.Tuple) and len(row.elts) == 2 and _names(row.elts[1]) & set_outside:
            return True
        if "label" in ast.unparse(node.func).lower() and _names(row) & set_outside:
            return True
    return False


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _calls(node: ast.AST, names: frozenset[str] | set[str]) -> list[ast.Call]:
    calls = [part for part in ast.walk(node) if isinstance(part, ast.Call)]
    return [part for part in calls if getattr(part.func, "attr", getattr(part.func, "id", "")) in names]
