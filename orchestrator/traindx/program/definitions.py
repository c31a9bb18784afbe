"""Functions, classes and imports."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from traindx.program.values import NOTHING, Class, Function, Guess, Imported, Library, Made, Scope, Value

if TYPE_CHECKING:
    from traindx.program.machine import Machine

_MARKS = {"no_grad": "no_grad", "inference_mode": "no_grad", "property": "property", "staticmethod": "staticmethod",
          "classmethod": "classmethod", "cached_property": "property", "enable_grad": "enable_grad"}  # fmt: skip
_CANONICAL = {"tensorflow.keras": "keras", "tf_keras": "keras", "pytorch_lightning": "lightning",
              "lightning.pytorch": "lightning", "torch.nn.modules": "torch.nn"}  # fmt: skip


def library(name: str) -> Library:
    """A package by its usual name, whatever it was imported as."""
    for given, usual in _CANONICAL.items():
        if name == given or name.startswith(f"{given}."):
            return Library(usual + name[len(given) :])
    return Library(name)


def define_function(m: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Bind a function; decorators that change what a call does are marks of it."""
    if not node.decorator_list:
        plain = Function(node, m.unit, m.scope, None, NOTHING)
        m.defined.append(plain)
        m.bind(node.name, plain)
        return ""
    from traindx.program.calling import call_function
    from traindx.program.expressions import evaluate

    marks = set()
    own: list[tuple[Function, ast.expr]] = []
    for decorator in node.decorator_list:
        value = evaluate(m, decorator)
        if isinstance(value, Function):
            own.append((value, decorator))
            continue
        name = value.name.rpartition(".")[2] if isinstance(value, Library) else ""
        name = value.kind if isinstance(value, Made) else name
        if name in _MARKS:
            marks.add(_MARKS[name])
        elif name and name not in {"wraps", "compile", "jit", "script", "torch_compile"}:
            marks.add(f"@{name}")
        elif isinstance(decorator, ast.Attribute) and decorator.attr == "setter":
            return ""
        else:
            marks.add(f"@{getattr(decorator, 'id', getattr(decorator, 'attr', ''))}")
    made = Function(node, m.unit, m.scope, None, frozenset(marks))
    m.defined.append(made)
    for decorate, decorator in reversed(own):
        # What a decorator of the program returns is what is called; one that returns nothing known changes nothing.
        found = call_function(m, decorate, [made], {}, decorator)
        made = found if isinstance(found, Function) else made
    m.bind(node.name, made)
    return ""


def define_class(m: Machine, node: ast.ClassDef) -> str:
    """Bind a class with its members."""
    from traindx.program.expressions import evaluate
    from traindx.program.machine import Frame
    from traindx.program.statements import follow

    bases = tuple(evaluate(m, base) for base in node.bases)
    scope = Scope({}, m.scope, m.unit)
    m.frames.append(Frame(None, scope))
    follow(m, node.body)
    m.frames.pop()
    found = Class(node, m.unit, m.scope, bases, scope.names)
    for member in scope.names.values():
        if isinstance(member, Function) and member.owner is None:
            member.owner = found
            member.scope = m.scope if member.scope is scope else member.scope
    m.bind(node.name, found)
    return ""


def import_names(m: Machine, node: ast.Import) -> str:
    """`import a.b as c`."""
    for alias in node.names:
        own = m.import_file(alias.name)
        if alias.asname:
            m.bind(alias.asname, own or library(alias.name))
            continue
        first = alias.name.partition(".")[0]
        if own is not None and "." not in alias.name:
            m.bind(first, own)
        else:
            m.bind(first, Library(first))
            if own is not None:
                m.bind(f"@module {alias.name}", own)
    return ""


def import_from(m: Machine, node: ast.ImportFrom) -> str:
    """`from a.b import c as d`."""
    base = node.module or ""
    if node.level:
        folder = "/".join(m.unit.path.split("/")[: -node.level])
        base = ".".join(part for part in (folder.replace("/", "."), base) if part)
    own = m.import_file(base) if base else None
    for alias in node.names[:200]:
        if alias.name == "*":
            if own is not None:
                for name, value in list(own.scope.names.items()):
                    m.bind(name, value)
            continue
        m.bind(alias.asname or alias.name, _member(m, own, base, alias.name, node.level))
    return ""


def _member(m: Machine, own: object, base: str, name: str, level: int) -> Value:
    if isinstance(own, Imported) and name in own.scope.names:
        return own.scope.names[name]
    inner = m.import_file(f"{base}.{name}" if base else name)
    if inner is not None and (own is not None or level or not base):
        return inner
    if own is not None or level:
        return Guess(name)
    return library(f"{base}.{name}")
