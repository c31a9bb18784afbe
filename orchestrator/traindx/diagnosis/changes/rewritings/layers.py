"""Activations, initial weights and precision of a model."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from traindx.contract import Fact
from traindx.diagnosis.changes.rewritings.source import Rewritten, Source, Unfit, at_fact, calls, programs
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of, number_of

_MODULES = {"Sigmoid": "ReLU", "Tanh": "ReLU", "Softsign": "ReLU"}
_FUNCTIONS = {"sigmoid": "relu", "tanh": "relu", "softsign": "relu"}
_DRAWN = {
    "torch": "0.02 * torch.randn({0})",
    "np": "np.random.normal(0.0, 0.02, {0})",
    "numpy": "numpy.random.normal(0.0, 0.02, {0})",
}
_CONSTANT = frozenset({"constant_", "ones_", "zeros_"})


def swap_activation(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """ReLU for the squashing activation of a deep stack."""
    source, line = at_fact(code, facts, "stack_place")
    for call in calls(source.unit.tree, *_MODULES, *_FUNCTIONS):
        function = call.func
        if call.lineno != line or not isinstance(function, ast.Attribute):
            continue
        old = function.attr
        new = _MODULES.get(old) or _FUNCTIONS[old]
        owner = ast.unparse(function.value)
        as_method = old in _FUNCTIONS and not call.args
        source.replace(function, f"{owner}.{new}")
        return source.rewritten(
            f"The diff writes `{owner}.{new}` for `{owner}.{old}` ({source.place(line)})"
            + (", a method of the tensor." if as_method else ".")
        )
    raise Unfit(f"the activation at {source.place(line)} is not called by its name in torch")


def initialise(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """A random start of an ordinary width, where the weights are set to one constant or spread too wide."""
    source, line = at_fact(code, facts, "init_place")
    for call in calls(source.unit.tree, "normal_", "trunc_normal_", *_CONSTANT):
        if not call.lineno <= line <= (call.end_lineno or call.lineno) or not isinstance(call.func, ast.Attribute):
            continue
        kind, owner = call.func.attr, ast.unparse(call.func.value)
        of_init = name_of(call.func.value) == "init"
        if kind in _CONSTANT and of_init and call.args:
            new = f"{owner}.kaiming_normal_({ast.unparse(call.args[0])})"
            source.replace(call, new)
            return source.rewritten(f"The diff writes `{new}` ({source.place(line)}); biases may stay constant.")
        spread = _spread(call, of_init=of_init)
        if spread is not None:
            source.replace(spread, "0.02")
            return source.rewritten(f"The diff sets the standard deviation to 0.02 ({source.place(line)}).")
    for call in calls(source.unit.tree, "full", "ones", "zeros"):
        library = name_of(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        if call.lineno == line and library in _DRAWN and call.args:
            shape = [ast.unparse(part) for part in (call.args[:1] if name_of(call.func) == "full" else call.args)]
            new = _DRAWN[library].format(", ".join(shape) if len(shape) == 1 else f"({', '.join(shape)})")
            source.replace(call, new)
            return source.rewritten(f"The diff draws them at random: `{new}` ({source.place(line)}).")
    raise Unfit(f"how the initial weights are set at {source.place(line)} has no rewriting")


def bfloat16(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:  # noqa: ARG001 - as every rewriting
    """Autocast in bf16, which has the range of fp32."""
    for unit in programs(code):
        source = Source(unit)
        for call in calls(unit.tree, "autocast"):
            written = next((key.value for key in call.keywords if key.arg == "dtype"), None)
            if isinstance(written, ast.Attribute) and written.attr in {"float16", "half"}:
                source.replace(written, f"{ast.unparse(written.value)}.bfloat16")
            elif written is None and call.lineno == call.end_lineno and isinstance(call.func, ast.Attribute):
                inner = ", ".join(ast.unparse(part) for part in (*call.args, *call.keywords))
                source.replace(call, f"{ast.unparse(call.func)}({inner + ', ' if inner else ''}dtype=torch.bfloat16)")
            else:
                continue
            return source.rewritten(
                f"The diff runs autocast in bf16 ({source.place(call.lineno)}); the GPU must have it (Ampere or later),"
                " and a loss scaler is no longer needed."
            )
    halved = [(unit, nodes) for unit in programs(code) if (nodes := list(_halves(unit.tree)))]
    if len(halved) != 1:
        raise Unfit("no one file of this folder was found in which the precision is chosen")
    unit, nodes = halved[0]
    source = Source(unit)
    # From the end of the file to its beginning: several may stand in one line.
    for node in sorted(nodes, key=lambda node: (node.lineno, node.end_col_offset or 0), reverse=True):
        source.replace(node, f"{ast.unparse(node.value)}.bfloat16")
    places = ", ".join(source.place(line) for line in sorted({node.end_lineno or 0 for node in nodes})[:3])
    return source.rewritten(f"The diff writes bf16 for fp16 ({places}); the GPU must have it (Ampere or later).")


def _halves(tree: ast.Module) -> Iterator[ast.Attribute]:
    """`net.half` of `net.half()`, and `torch.float16`; not in a table of types, nor where types are compared."""
    tables = {
        id(part) for node in ast.walk(tree) if isinstance(node, ast.Dict | ast.Compare) for part in ast.walk(node)
    }
    called = {id(call.func) for call in calls(tree, "half") if not call.args}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or id(node) in tables:
            continue
        if id(node) in called or (name_of(node.value) == "torch" and node.attr in {"float16", "half"}):
            yield node


def _spread(call: ast.Call, *, of_init: bool) -> ast.expr | None:
    """The standard deviation that a call is given as a number."""
    named = next((key.value for key in call.keywords if key.arg == "std"), None)
    at = 2 if of_init else 1
    given = named or (call.args[at] if len(call.args) > at else None)
    return given if number_of(given) is not None else None


def load_trainable(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Load an adapter so that it trains."""
    if "load_place" not in facts:
        raise Unfit("where the model is wrapped was not found")
    source, line = at_fact(code, facts, "load_place")
    for call in calls(source.statement_at(line), "from_pretrained"):
        given = next((row.value for row in call.keywords if row.arg == "is_trainable"), None)
        if call.lineno != line or (given is None and not (call.args or call.keywords)):
            continue
        last = call.keywords[-1] if call.keywords else call.args[-1]
        text = "True" if given is not None else f"{source.segment(last)}, is_trainable=True"
        source.replace(last if given is None else given, text)
        return source.rewritten(f"The diff loads it with `is_trainable=True` ({source.place(line)}).")
    raise Unfit(f"the call at {source.place(line)} is not written in one line")
