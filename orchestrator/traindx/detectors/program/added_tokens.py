"""Tokens that a program adds to a tokenizer without giving the model rows for them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite_code
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import all_nodes, name_of

SIGNALS = {"tokens-without-rows": "tokens are added to the tokenizer, and the embedding is not resized"}
_ADDING = {"add_special_tokens", "add_tokens"}
_RESIZING = {"resize_token_embeddings", "set_input_embeddings", "smart_tokenizer_and_embedding_resize"}


def detect(code: Sequence[CodeUnit]) -> list[Signal]:
    """The line that adds tokens, where a model is loaded and nothing in the program resizes its embedding."""
    calls = [(unit, node) for unit in code for node in all_nodes(unit.tree) if isinstance(node, ast.Call)]
    names = {name_of(node.func) for _, node in calls}
    loads = any(name_of(node.func) in {"from_pretrained", "from_config"} and _is_model(node) for _, node in calls)
    if names & _RESIZING or any("resize" in name and "embed" in name for name in names) or not loads:
        return []
    added = next(((unit, node) for unit, node in calls if name_of(node.func) in _ADDING and node.args), None)
    if added is None:
        return []
    unit, node = added
    claim = f"`{unit.quote(node.lineno)}` adds tokens, and nothing resizes the embedding"
    place = cite_code(unit, node.lineno, claim)
    facts: dict[str, Fact] = {"tokens_place": unit.place(node.lineno)}
    return [Signal(id="tokens-without-rows", claim=claim, citations=[place], facts=facts)]


def _is_model(node: ast.Call) -> bool:
    owner = name_of(node.func.value) if isinstance(node.func, ast.Attribute) else ""
    return "Model" in owner or "LM" in owner
