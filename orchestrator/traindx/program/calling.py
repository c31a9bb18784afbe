"""Calls: of functions and classes of the program, which are followed, and of everything else (`library`)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from traindx.program.guessing import guessed_parameter
from traindx.program.joining import join
from traindx.program.values import (
    UNKNOWN,
    Class,
    Function,
    Guess,
    Instance,
    Items,
    Layer,
    Library,
    Made,
    Mapping,
    Method,
    Plain,
    Scope,
    Stream,
    Tensor,
    Value,
)

if TYPE_CHECKING:
    from traindx.program.machine import Machine

MODULE_BASES = (
    "Module", "LightningModule", "PreTrainedModel", "Model", "Layer", "Sequential", "ModuleList", "ModuleDict",
    "MessagePassing", "GraphModule", "Function",
)  # fmt: skip


class Call(NamedTuple):
    """A call with its arguments evaluated."""

    node: ast.Call
    args: list[Value]
    keywords: dict[str, Value]

    def argument(self, at: int, name: str) -> Value | None:
        """An argument by its name or place."""
        if name in self.keywords:
            return self.keywords[name]
        return self.args[at] if 0 <= at < len(self.args) else None

    @property
    def tensors(self) -> list[Tensor]:
        """The tensors among the arguments, also those in lists."""
        found: list[Tensor] = []
        for value in [*self.args, *self.keywords.values()]:
            if isinstance(value, Tensor):
                found.append(value)
            elif isinstance(value, Items):
                found += [part for part in value.items if isinstance(part, Tensor)]
            elif isinstance(value, Mapping):
                found += [part for part in value.entries.values() if isinstance(part, Tensor)]
        return found


def call_node(m: Machine, node: ast.Call) -> Value:
    """What a call gives."""
    from traindx.program.expressions import evaluate

    func = node.func
    if isinstance(func, ast.Attribute):
        from traindx.program.library import call_method_of

        if isinstance(func.value, ast.IfExp) and (found := _of_either(m, node, func.value, func.attr)) is not None:
            return found
        owner = evaluate(m, func.value)
        call = _evaluated(m, node)
        own = _own(m, owner, func)
        return call_value(m, own, call) if own is not None else call_method_of(m, owner, func.attr, call)
    callee = evaluate(m, func)
    return call_value(m, callee, _evaluated(m, node))


def _of_either(m: Machine, node: ast.Call, owner: ast.IfExp, name: str) -> Value | None:
    """`(one if condition else other).append(x)`: either may be meant; None where the condition is decided."""
    from traindx.program.conditions import truth
    from traindx.program.expressions import evaluate
    from traindx.program.library import call_method_of

    if truth(m, owner.test) is not None:
        return None
    call = _evaluated(m, node)
    call_method_of(m, evaluate(m, owner.body), name, call)
    return call_method_of(m, evaluate(m, owner.orelse), name, call)


def _own(m: Machine, owner: Value, func: ast.Attribute) -> Value | None:
    """An attribute of a library or a class, or what is of the program: a method, a field with a layer or a function."""
    from traindx.program.attributes import attribute

    if isinstance(owner, Made) and owner.kind == "super":
        return None
    found = attribute(m, owner, func.attr, func)
    if isinstance(owner, Library | Class):
        return found
    if isinstance(found, Method):
        return found if found.function is not None else None
    return None if isinstance(found, Guess | Plain) or found is UNKNOWN else found


def _evaluated(m: Machine, node: ast.Call) -> Call:
    from traindx.program.expressions import evaluate

    args: list[Value] = []
    for part in node.args:
        if isinstance(part, ast.Starred):
            inner = evaluate(m, part.value)
            args += inner.items if isinstance(inner, Items) else [inner if isinstance(inner, Tensor) else UNKNOWN]
        else:
            args.append(evaluate(m, part))
    keywords: dict[str, Value] = {}
    for keyword in node.keywords:
        value = evaluate(m, keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif isinstance(value, Mapping):
            keywords.update(value.entries)
        elif isinstance(value, Made) and value.kind == "config":
            from traindx.program.subscripts import whole_config

            keywords.update(whole_config(m, value))
        else:
            keywords["**"] = value
    return Call(node, args, keywords)


def call_value(m: Machine, callee: Value, call: Call) -> Value:
    """Call whatever this is."""
    from traindx.program import library

    if isinstance(callee, Function):
        return call_function(m, callee, call.args, call.keywords, call.node)
    if isinstance(callee, Class):
        return instantiate(m, callee, call)
    if isinstance(callee, Library):
        return library.call_library(m, callee.name, call)
    if isinstance(callee, Method):
        if callee.function is not None:
            return call_method(m, callee.owner, callee.function, call.args, call.keywords, call.node)
        return library.call_method_of(m, callee.owner, callee.name, call)
    if isinstance(callee, Instance):
        return call_instance(m, callee, call)
    if isinstance(callee, Layer):
        return library.call_layer(m, callee, call)
    if isinstance(callee, Made):
        return library.call_made(m, callee, call)
    return library.call_unknown(m, callee, call)


def call_instance(m: Machine, owner: Instance, call: Call) -> Value:
    """Call an object: its `forward` where it is a module, else its `__call__`."""
    from traindx.program import library

    cls = owner.cls
    forward = cls.find("forward") or cls.find("call") if cls is not None and is_module(owner) else None
    if isinstance(forward, Function):
        if not m.inside_modules:
            m.passing = m.event("forward", call.node, owner, call=call, **library.modules.modes(owner))
        m.inside_modules += 1
        try:
            made = call_method(m, owner, forward, call.args, call.keywords, call.node)
        finally:
            m.inside_modules -= 1
        if not m.inside_modules:
            m.event("output", call.node, owner, value=made)
        return made
    if is_module(owner):
        return library.call_layer(m, owner, call)
    own = cls.find("__call__") if cls is not None else None
    if isinstance(own, Function):
        return call_method(m, owner, own, call.args, call.keywords, call.node)
    return library.call_unknown(m, owner, call)


def is_module(value: Value) -> bool:
    """Whether an object has parameters and is called to go forward."""
    if isinstance(value, Layer):
        return True
    return isinstance(value, Instance) and value.cls is not None and value.cls.descends(*MODULE_BASES)


def instantiate(m: Machine, cls: Class, call: Call) -> Value:
    """Make an object of a class of the program."""
    owner = Instance(cls=cls, place=m.place(call.node))
    sure = "omitted" if _as_written(m, call) else "default"
    for name, member in _defaults(cls, sure).items():
        owner.fields[name] = member
    if is_module(owner):
        owner.fields["@training"] = Plain(True)
        m.event("module", call.node, owner)
    elif cls.node.name.endswith("LR") or cls.descends("LRScheduler", "_LRScheduler"):
        m.event("own-scheduler", call.node, owner, call=call, name=cls.node.name)
    elif cls.descends("Optimizer"):
        m.event("own-optimizer", call.node, owner, given=call.argument(0, "params"))
    init = cls.find("__init__")
    if isinstance(init, Function):
        call_method(m, owner, init, call.args, call.keywords, call.node)
    else:
        for name, value in call.keywords.items():
            owner.fields[name] = value
        annotated = [part.target.id for part in cls.node.body if _is_field(part)]  # type: ignore[attr-defined]
        for name, value in zip(annotated, call.args, strict=False):
            owner.fields[name] = value
    return owner


def _is_field(part: ast.stmt) -> bool:
    return isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)


def _as_written(m: Machine, call: Call) -> bool:
    """Whether a program makes an object itself, and no field of it can be set by a name that is not written out."""
    own = hasattr(call.node.func, "lineno") and "**" not in call.keywords
    return own and all(unit.names.isdisjoint({"setattr", "__dict__"}) for unit in m.units.values())


def _defaults(cls: Class, sure: str) -> dict[str, Value]:
    """The values that a configuration class gives to its fields."""
    found: dict[str, Value] = {}
    for part in cls.node.body:
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            value = cls.members.get(part.target.id)
            if isinstance(value, Plain):
                found[part.target.id] = Plain(value.value, sure, part.target.id)
    return found


def call_method(
    m: Machine,
    owner: Value,
    function: Function,
    args: list[Value],
    keywords: dict[str, Value],
    node: ast.AST | None = None,
) -> Value:
    """Call a function of a class on an object."""
    if "staticmethod" in function.marks:
        return call_function(m, function, args, keywords, node)
    first = owner.cls if "classmethod" in function.marks and isinstance(owner, Instance) and owner.cls else owner
    return call_function(m, function, [first, *args], keywords, node)


def call_function(
    m: Machine, function: Function, args: list[Value], keywords: dict[str, Value], node: ast.AST | None = None
) -> Value:
    """Follow a function with its arguments bound."""
    from traindx.program.expressions import evaluate
    from traindx.program.machine import DEEPEST, Frame
    from traindx.program.statements import follow

    running = sum(frame.function is not None and frame.function.node is function.node for frame in m.frames)
    if len(m.frames) > DEEPEST or running > 1:
        return UNKNOWN
    m.tick(2)
    m.called.add(id(function.node))
    m.trace.functions.append(function)
    scope = Scope({}, function.scope, function.unit)
    before, grad, inside = m.unit, m.grad, m.in_sequence
    m.in_sequence = 0
    if node is not None:
        m.calls.append(m.place(node))
    m.unit = function.unit
    frame = Frame(function, scope)
    m.frames.append(frame)
    try:
        _bind_arguments(
            m, function, args, keywords, "omitted" if node is not None and _is_bare(function) else "default"
        )
        off = m.off
        if "no_grad" in function.marks:
            m.grad = False
            m.off = m.place(function.node)
        elif "enable_grad" in function.marks:
            m.grad = True
        if isinstance(function.node, ast.Lambda):
            return evaluate(m, function.node.body)
        follow(m, function.node.body)
        m.off = off
    finally:
        m.frames.pop()
        m.unit, m.grad, m.in_sequence = before, grad, inside
        if node is not None:
            m.calls.pop()
    if frame.yielded:
        element = frame.yielded[0]
        for other in frame.yielded[1:]:
            element = join(element, other)
        return Stream(element, Guess(function.name))
    return _returned(frame.returned)


def _returned(values: list[Value]) -> Value:
    if not values:
        return Plain(None)
    found = values[0]
    for value in values[1:]:
        found = join(found, value)
    return found


def _is_bare(function: Function) -> bool:
    """Whether nothing wraps a function that may give it other arguments: a command line, a configuration."""
    return not any(mark.startswith("@") for mark in function.marks)


def _bind_arguments(m: Machine, function: Function, args: list[Value], keywords: dict[str, Value], sure: str) -> None:
    from traindx.program.expressions import evaluate

    given = function.node.args
    names = [part.arg for part in (*given.posonlyargs, *given.args)]
    scope = m.scope.names
    for name, value in zip(names, args, strict=False):
        scope[name] = value
    if given.vararg is not None:
        scope[given.vararg.arg] = Items(list(args[len(names) :]), "tuple")
    extra = {name: value for name, value in keywords.items() if name not in names}
    for name in names:
        if name in keywords:
            scope[name] = keywords[name]
    for part in given.kwonlyargs:
        if part.arg in keywords:
            scope[part.arg] = extra.pop(part.arg)
    if given.kwarg is not None:
        scope[given.kwarg.arg] = Mapping(extra, "**" in keywords)
    defaults = [*[None] * (len(names) - len(given.defaults)), *given.defaults, *given.kw_defaults]
    for name, default in zip([*names, *(part.arg for part in given.kwonlyargs)], defaults, strict=False):
        if name in scope:
            continue
        if default is None:
            scope[name] = guessed_parameter(m, name, function)
        else:
            value = evaluate(m, default)
            scope[name] = _as_default(value, name, "default" if "**" in keywords else sure)


def _as_default(value: Value, name: str, sure: str) -> Value:
    if isinstance(value, Plain) and isinstance(value.value, int | float):
        return Plain(value.value, sure, name)
    return value
