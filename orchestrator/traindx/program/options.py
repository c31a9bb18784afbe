"""Where an option gets its value: the line that declares it, for the places that read it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import partial

from traindx.program.values import Place
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import all_nodes, name_of

_HOLDERS = frozenset(
    ["args", "opt", "opts", "options", "cfg", "conf", "config", "hparams", "hp", "params", "flags", "a"]
)


def declared_at(units: Sequence[CodeUnit], place: Place, about: str) -> Iterator[Place]:
    """The declaration of the option that a place reads: `add_argument("--shuffle", …)`, the field of a dataclass. Of
    several those that have a word of what it is about.
    """
    names = list(dict.fromkeys(_read(place.node)))
    if len(names) > 1:
        names = [name for name in names if any(len(word) > 3 and word in about for word in name.lower().split("_"))]
    for unit in units if names else ():
        known = unit.once("declared options", partial(_declared, unit))
        yield from (Place(unit, known[name]) for name in names if name in known)


def _read(node: ast.AST) -> Iterator[str]:
    """`shuffle` of `args.shuffle`, `self.cfg.shuffle` and `cfg["shuffle"]`."""
    for part in all_nodes(node):
        if isinstance(part, ast.Attribute) and _holds(part.value):
            yield part.attr
        elif isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Constant) and _holds(part.value):
            yield str(part.slice.value)


def _holds(node: ast.expr) -> bool:
    return name_of(node).lower() in _HOLDERS


def _declared(unit: CodeUnit) -> dict[str, ast.AST]:
    found: dict[str, ast.AST] = {}
    for cls in unit.nodes.of(ast.ClassDef):
        if any(
            name_of(part.func if isinstance(part, ast.Call) else part) == "dataclass" for part in cls.decorator_list
        ):
            fields = [row for row in cls.body if isinstance(row, ast.AnnAssign)]
            found |= {row.target.id: row for row in fields if isinstance(row.target, ast.Name)}
    for call in unit.nodes.of(ast.Call):
        if name_of(call.func) == "add_argument":
            words = [part.value for part in call.args if isinstance(part, ast.Constant) and isinstance(part.value, str)]
            dest = next((key.value for key in call.keywords if key.arg == "dest"), None)
            told = [dest.value] if isinstance(dest, ast.Constant) else [word for word in words if word.startswith("--")]
            found |= {str(word).lstrip("-").replace("-", "_"): call for word in told or words}
    return found
