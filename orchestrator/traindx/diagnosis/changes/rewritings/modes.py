"""Modes of the model and what belongs around loops: evaluation, gradients, states, registered layers, order of data."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from traindx.contract import Fact
from traindx.diagnosis.changes.rewritings.source import Rewritten, Source, Unfit, at_fact, calls
from traindx.readers.code.codeunit import CodeUnit


def evaluate(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Put the model into evaluation mode before it is evaluated."""
    return _moded(code, facts, "eval", (ast.With, ast.For))


def train(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Put the model into training mode before the loop that trains it; where an evaluation in it leaves that mode,
    before the batch that is trained on.
    """
    if "within" in facts:
        source, line = at_fact(code, facts, "forward_place")
        text = f"{str(facts.get('model') or '') or _model(source, line)}.train()"
        source.insert_before(source.statement_at(line), text)
        return source.rewritten(f"The diff adds `{text}` ({source.place(line)}).")
    return _moded(code, facts, "train", (ast.For,))


def _moded(
    code: Sequence[CodeUnit], facts: Mapping[str, Fact], mode: str, blocks: tuple[type[ast.stmt], ...]
) -> Rewritten:
    source, line = at_fact(code, facts, "forward_place")
    model = str(facts.get("model") or "") or _model(source, line)
    around = [
        node
        for node in source.around(line, *blocks)
        if mode == "train" or not any(True for _ in calls(node, "backward"))
    ]
    at = (around[-1] if mode == "train" else around[0]) if around else source.statement_at(line)
    text = f"{model}.{mode}()"
    source.insert_before(at, text)
    return source.rewritten(f"The diff adds `{text}` ({source.place(at.lineno)}).")


def _model(source: Source, line: int) -> str:
    """The model that a line calls, as it is written."""
    statement = source.statement_at(line)
    here = [node for node in ast.walk(statement) if isinstance(node, ast.Call) and node.lineno <= line]
    for node in here:
        told = ast.unparse(node.func)
        if isinstance(node.func, ast.Name | ast.Attribute) and any(word in told.lower() for word in ("model", "net")):
            return told
    names = [node.func.id for node in here if isinstance(node.func, ast.Name) and node.func.id.islower()]
    if not names:
        raise Unfit(f"how the model at {source.place(line)} is called was not found")
    return names[-1]


def without_gradients(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Switch gradients off for a function that evaluates."""
    source, line = at_fact(code, facts, "loop_place")
    functions = source.around(line, ast.FunctionDef)
    if not functions or any(True for _ in calls(functions[-1], "backward")):
        raise Unfit("the loop is not in a function of its own: put it under `with torch.no_grad():`")
    function = functions[-1]
    source.insert_before(function, "@torch.no_grad()")
    return source.rewritten(f"The diff switches gradients off for `{getattr(function, 'name', '')}`.")


def register(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Keep layers in a container that registers them."""
    source, line = at_fact(code, facts, "layer_place")
    statement = source.statement_at(line)
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    if not isinstance(value, ast.List | ast.ListComp | ast.Dict | ast.DictComp | ast.Tuple):
        raise Unfit(f"the container at {source.place(line)} is not written out in one expression")
    kind = "ModuleDict" if isinstance(value, ast.Dict | ast.DictComp) else "ModuleList"
    prefix = "nn." if any(ast.unparse(call.func).startswith("nn.") for call in _all_calls(value)) else "torch.nn."
    text = f"{prefix}{kind}({source.segment(value)})"
    source.replace(value, text)
    return source.rewritten(f"The diff wraps the container in `{prefix}{kind}`.")


def _all_calls(node: ast.AST) -> list[ast.Call]:
    return [part for part in ast.walk(node) if isinstance(part, ast.Call)]


def all_parameters(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """What the optimizer lacks is known by its layer, not by a name that could be written there."""
    source, line = at_fact(code, facts, "optimizer_place")
    raise Unfit(f"which modules the optimizer at {source.place(line)} should get as well is not known by name")


def reset_state(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Give the state its first value again at the start of each iteration."""
    source, line = at_fact(code, facts, "loop_place")
    state = str(facts.get("state", ""))
    loops = [node for node in source.around(line, ast.For, ast.While) if node.lineno == line]
    first = [
        node
        for node in source.statements
        if isinstance(node, ast.Assign)
        and node.lineno < line
        and ast.unparse(node.targets[0]) == state
        and _function_of(source, node.lineno) == _function_of(source, line)
    ]
    if not loops or not first:
        raise Unfit(f"where `{state}` gets its first value was not found in the file of the loop")
    body = getattr(loops[-1], "body", [])
    text = f"{state} = {source.segment(first[-1].value)}"
    if "\n" in text:
        raise Unfit(f"the first value of `{state}` goes over several lines")
    source.insert_before(body[0], text)
    return source.rewritten(f"The diff adds `{text}` at the start of each iteration ({source.place(line)}).")


def _function_of(source: Source, line: int) -> int:
    """The line of the function around a line; 0 at the top level."""
    around = source.around(line, ast.FunctionDef, ast.AsyncFunctionDef)
    return around[-1].lineno if around else 0


def in_order(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Go through the data in its order."""
    source, line = at_fact(code, facts, "loader_place")
    for call in calls(source.statement_at(line), "DataLoader"):
        given = next((key.value for key in call.keywords if key.arg == "shuffle"), None)
        if given is not None:
            source.replace(given, "False")
            return source.rewritten(f"The diff sets `shuffle=False` ({source.place(given.lineno)}).")
    raise Unfit(f"`shuffle` is not given by name at {source.place(line)}")


def shuffle(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Shuffle the data that a loader goes through."""
    source, line = at_fact(code, facts, "loader_place")
    for call in calls(source.statement_at(line), "DataLoader"):
        given = next((key.value for key in call.keywords if key.arg == "shuffle"), None)
        if given is not None:
            source.replace(given, "True")
        elif call.args:
            last = [*call.args, *(key.value for key in call.keywords)][-1]
            source.replace(last, f"{source.segment(last)}, shuffle=True")
        else:
            continue
        return source.rewritten(f"The diff sets `shuffle=True` ({source.place(call.lineno)}).")
    raise Unfit(f"no `DataLoader` is made at {source.place(line)}")
