"""The files that a program writes itself: a configuration among them records a run and steers none."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from traindx.readers.code.codeunit import CodeUnit

_WRITES = frozenset({"write_text", "write_bytes"})
_SAVES = frozenset({"save", "to_json_file", "save_config", "dump_config"})
"""methods that take the name of the file they write"""


def written_by(units: Sequence[CodeUnit]) -> set[str]:
    """The names of files, without their folders, that the programs write and none of them reads."""
    written: set[str] = set()
    read: set[str] = set()
    for unit in units:
        for node in ast.walk(unit.tree):
            if isinstance(node, ast.Call):
                target, names = _used(node)
                (written if target else read).update(names)
    return written - read


def _used(call: ast.Call) -> tuple[bool, list[str]]:
    """Whether a call writes, and the names of the files it speaks of."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if name == "open":
        # `open(path, mode)`, `io.open(path, mode)` and `Path(path).open(mode)`
        inside = list(_files(call))
        named = inside or (list(_files(owner)) if owner is not None else [])
        return _is_write(call), named
    if name in _WRITES and owner is not None:
        return True, list(_files(owner))
    if name in _SAVES:
        return True, [file for part in call.args for file in _files(part)]
    return False, [file for part in call.args for file in _files(part)] if name in {"load", "load_config"} else []


def _is_write(call: ast.Call) -> bool:
    modes = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    return any(
        isinstance(mode, ast.Constant) and isinstance(mode.value, str) and mode.value.rstrip("bt+") in {"w", "x", "a"}
        for mode in modes
    )


def _files(node: ast.AST) -> Iterator[str]:
    """The file names in an expression: constants and the ends of formatted strings that have a suffix."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and len(part.value) < 300:
            name = PurePosixPath(part.value).name
            if PurePosixPath(name).suffix:
                yield name
