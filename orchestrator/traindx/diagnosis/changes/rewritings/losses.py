"""What goes into a loss: activations, signs, axes and shapes."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from traindx.contract import Fact
from traindx.diagnosis.changes.rewritings.source import Rewritten, Source, Unfit, at_fact, calls, programs
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of, number_of

_ACTIVATIONS = ("softmax", "sigmoid")
_CLASSES = {"BCELoss": "BCEWithLogitsLoss", "NLLLoss": "CrossEntropyLoss"}
_FUNCTIONS = {"binary_cross_entropy": "binary_cross_entropy_with_logits", "nll_loss": "cross_entropy"}


def drop_activation(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Take the activation away from before the loss."""
    source, line = at_fact(code, facts, "activation_place")
    for call in _calls_at(source, line):
        name = name_of(call.func)
        if name in {"Softmax", "Sigmoid"}:
            owner = ast.unparse(call.func).rpartition(".")[0]
            text = f"{owner}.Identity()" if owner else "Identity()"
            source.replace(call, text)
            return source.rewritten(f"The diff puts `{text}` in its place ({source.place(line)}).")
        if name in _ACTIVATIONS:
            libraries = {"torch", "F", "nn", "functional"}
            of_library = isinstance(call.func, ast.Name) or name_of(getattr(call.func, "value", None)) in libraries
            inner = call.args[0] if of_library and call.args else getattr(call.func, "value", None)
            if isinstance(inner, ast.expr):
                source.replace(call, source.segment(inner))
                return source.rewritten(f"The diff gives the loss the logits ({source.place(line)}).")
        told = next((key.value for key in call.keywords if key.arg == "from_logits"), None)
        if told is not None:
            source.replace(told, "False")
            return source.rewritten(f"The diff tells the loss to expect probabilities ({source.place(told.lineno)}).")
    raise Unfit(f"the activation at {source.place(line)} is not written in one call")


def _calls_at(source: Source, line: int) -> list[ast.Call]:
    found = [node for node in ast.walk(source.statement_at(line)) if isinstance(node, ast.Call)]
    return [node for node in found if node.lineno <= line <= (node.end_lineno or line)]


def drop_minus(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Take the minus sign away; before a policy's term, put one."""
    if "policy_place" in facts:
        source, line = at_fact(code, facts, "policy_place")
        lower = [call for call in _calls_at(source, line) if name_of(call.func) in {"min", "minimum"} and call.args[1:]]
        if len(lower) == 1:
            source.replace(lower[0], f"-{source.segment(lower[0])}")
            return source.rewritten(f"The diff puts a minus before the lower of the two ({source.place(line)}).")
        parts = [node for node in ast.walk(source.statement_at(line)) if isinstance(node, ast.BinOp)]
        products = [node for node in parts if isinstance(node.op, ast.Mult)]
        if len(products) == 1 and number_of(products[0].left) is None:
            source.replace(products[0], f"-{source.segment(products[0])}")
            return source.rewritten(f"The diff puts a minus before the term ({source.place(products[0].lineno)}).")
        raise Unfit("the term is not written as a plain product")
    for name in ("backward_place", "loss_place"):
        source, line = at_fact(code, facts, name)
        for node in ast.walk(source.statement_at(line)):
            if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and number_of(node) is None:
                source.replace(node, source.segment(node.operand))
                return source.rewritten(f"The diff takes the minus sign away ({source.place(node.lineno)}).")
    raise Unfit("the sign is not written as a plain minus before the loss")


def take_logits(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Use the loss that takes logits."""
    if facts.get("gets") != "raw logits":
        raise Unfit("what should go into the loss instead is not known here")
    wanted = str(facts.get("loss_class", ""))
    for unit in programs(code):
        source = Source(unit)
        for call in calls(unit.tree, wanted, *_FUNCTIONS):
            name = name_of(call.func)
            new = _CLASSES.get(name, _FUNCTIONS.get(name))
            fits = name == wanted or (_FUNCTIONS.get(name) is not None and _belongs(name, wanted))
            if new is None or not fits:
                continue
            text = ast.unparse(call.func)
            source.replace(call.func, f"{text.rpartition('.')[0]}.{new}".lstrip("."))
            return source.rewritten(f"The diff uses `{new}`, which takes logits ({source.place(call.lineno)}).")
    raise Unfit(f"where `{wanted}` is made was not found")


def _belongs(function: str, wanted: str) -> bool:
    return (function == "nll_loss") == (wanted == "NLLLoss")


def last_axis(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Use the last axis."""
    source, line = at_fact(code, facts, "dim_place")
    for call in _calls_at(source, line):
        if name_of(call.func).lower() not in {"softmax", "argmax", "log_softmax", "logsoftmax"}:
            continue
        given = [key.value for key in call.keywords if key.arg in {"dim", "axis"}] or call.args[-1:]
        if given and number_of(given[0]) == 0:
            axis = str(facts.get("axis", "-1"))
            source.replace(given[0], axis)
            which = "the last axis" if axis == "-1" else f"axis {axis}, which is summed over"
            return source.rewritten(f"The diff uses {which} ({source.place(line)}).")
    raise Unfit(f"the axis at {source.place(line)} is not written as a number")


def same_shape(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Take the last dimension of size one away."""
    source, line = at_fact(code, facts, "loss_place")
    if not str(facts.get("prediction_shape", "")).endswith(", 1)"):
        raise Unfit("the target, not the prediction, has the extra dimension")
    first = _prediction(source, line)
    if first is None:
        raise Unfit(f"the prediction at {source.place(line)} is not a plain expression")
    plain = isinstance(first, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    segment = source.segment(first)
    text = f"{segment}.squeeze(-1)" if plain else f"({segment}).squeeze(-1)"
    source.replace(first, text)
    return source.rewritten(f"The diff gives both the same shape: `{text}`.")


def _prediction(source: Source, line: int) -> ast.expr | None:
    statement = source.statement_at(line)
    for node in ast.walk(statement):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and node.lineno == line:
            return node.left
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and len(node.args) > 1 and node.lineno <= line:
            return node.args[0]
    return None


def add_activation(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Put a ReLU before a layer of a `Sequential`."""
    source, line = at_fact(code, facts, "layer_place")
    for holder in calls(source.unit.tree, "Sequential"):
        for layer in holder.args[1:]:
            if isinstance(layer, ast.Call) and layer.lineno == line:
                owner = ast.unparse(layer.func).rpartition(".")[0]
                relu = f"{owner}.ReLU()" if owner else "ReLU()"
                source.replace(layer, f"{relu}, {source.segment(layer)}")
                return source.rewritten(f"The diff puts `{relu}` before the layer ({source.place(line)}).")
    raise Unfit(f"the layer at {source.place(line)} does not stand in a `Sequential`")
