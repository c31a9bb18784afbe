"""An optimizer that is built before the adapter is put into the model: it holds none of the adapter's weights."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite_code
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of

SIGNALS = {"optimizer-before-adapter": "the optimizer is built before the adapter, and holds none of its weights"}
_ADAPTING = {"get_peft_model", "add_adapter", "inject_adapter_in_model", "inject_lora", "mark_only_lora_as_trainable"}


def detect(code: Sequence[CodeUnit]) -> list[Signal]:
    """The line that builds the optimizer, with the later one that puts the adapter in."""
    for unit in code:
        for body in unit.bodies:
            built = [row for row in _calls(body) if _takes_parameters(row)]
            adapted = [row for row in _calls(body) if name_of(row.func) in _ADAPTING]
            early = [row for row in built if adapted and row.lineno < adapted[0].lineno]
            if not early or any(row.lineno > adapted[0].lineno for row in built):
                continue
            optimizer, adapter = early[-1], adapted[0]
            claim = "the optimizer is built here, before the model has its adapter"
            places = [
                cite_code(unit, optimizer.lineno, claim),
                cite_code(unit, adapter.lineno, "the adapter comes here"),
            ]
            facts: dict[str, Fact] = {
                "optimizer_place": unit.place(optimizer.lineno),
                "adapter_place": unit.place(adapter.lineno),
            }
            return [Signal(id="optimizer-before-adapter", claim=claim, citations=places, facts=facts)]
    return []


def _calls(body: Sequence[ast.stmt]) -> list[ast.Call]:
    """The calls of a body in their order, without those of functions and classes that are defined in it."""
    plain = [row for row in body if not isinstance(row, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
    found = [node for row in plain for node in ast.walk(row) if isinstance(node, ast.Call)]
    return sorted(found, key=lambda node: (node.lineno, node.col_offset))


def _takes_parameters(node: ast.Call) -> bool:
    """`AdamW(model.parameters(), ...)`: an optimizer over the parameters of a model."""
    given = node.args[0] if node.args else next((row.value for row in node.keywords if row.arg == "params"), None)
    if given is None or not name_of(node.func)[:1].isupper():
        return False
    return any(
        isinstance(part, ast.Call) and name_of(part.func) in {"parameters", "named_parameters"}
        for part in ast.walk(given)
    )
