"""The layers that a program builds with sizes that can be read off: numbers, and names that a setting gives one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import TypeGuard

from traindx.detectors.checkpoints.balance import Parameter
from traindx.detectors.citing import cite_line
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of
from traindx.readers.model import Setting

Sizes = tuple[int, ...]
# torch.nn's layers: the arguments that give their size, and the shapes of their weights without biases.
_LAYERS: dict[str, tuple[tuple[str, ...], Callable[..., list[Sizes]]]] = {
    "Embedding": (("num_embeddings", "embedding_dim"), lambda rows, width: [(rows, width)]),
    "Linear": (("in_features", "out_features"), lambda inputs, outputs: [(outputs, inputs), (outputs,)]),
    "Conv1d": (("in_channels", "out_channels", "kernel_size"), lambda i, o, k: [(o, i, k), (o,)]),
    "Conv2d": (("in_channels", "out_channels", "kernel_size"), lambda i, o, k: [(o, i, k, k), (o,)]),
    "LSTM": (("input_size", "hidden_size"), lambda i, h: [(4 * h, i), (4 * h, h), (8 * h,)]),
    "GRU": (("input_size", "hidden_size"), lambda i, h: [(3 * h, i), (3 * h, h), (6 * h,)]),
    "TransformerEncoderLayer": (
        ("d_model", "dim_feedforward"),
        lambda d, f: [(4 * d, d), (4 * d,), (f, d), (d, f), (f + d,), (4 * d,)],
    ),
    "MultiheadAttention": (("embed_dim",), lambda d: [(4 * d, d), (4 * d,)]),
    "LayerNorm": (("normalized_shape",), lambda d: [(2 * d,)]),
}
_SKIPPED = {"TransformerEncoderLayer": 1}
"""positional arguments between the first and the second size: `nhead`"""
_KIND_NAMES = {"TransformerEncoderLayer": "attention", "MultiheadAttention": "attention", "LSTM": "lstm", "GRU": "gru."}
MOST = 1 << 40


def layers_in(code: Sequence[CodeUnit], settings: Sequence[Setting]) -> list[Parameter]:
    """The weights of every layer whose sizes are known; each once, however often a loop builds it."""
    known = {row.key.rpartition(".")[2]: int(row.value) for row in reversed(settings) if _is_size(row.value)}
    found: list[Parameter] = []
    for unit in code:
        targets = _targets(unit.tree)
        for call in ast.walk(unit.tree):
            if isinstance(call, ast.Call):
                found += _weights(call, targets.get(id(call), ""), unit, known)
    return found


def _weights(call: ast.Call, target: str, unit: CodeUnit, known: Mapping[str, int]) -> list[Parameter]:
    kind = name_of(call.func).rpartition(".")[2]
    if kind not in _LAYERS:
        return []
    names, shapes = _LAYERS[kind]
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    positions = [0, *range(1 + _SKIPPED.get(kind, 0), len(names) + _SKIPPED.get(kind, 0))]
    sizes = [
        _size(given.get(name) or (call.args[at] if at < len(call.args) else None), known)
        for name, at in zip(names, positions, strict=True)
    ]
    whole = [size for size in sizes if size is not None]
    if len(whole) < len(sizes):
        return []
    label = _KIND_NAMES.get(kind, "")
    name = f"{target or kind.lower()}.{label}".rstrip(".") if label else target or kind.lower()
    if kind == "Embedding" and "emb" not in name.lower():
        name = f"{name}.embedding"
    line = unit.file_line(call.lineno)
    place = cite_line(unit.path, line, f"`{kind}` of {' x '.join(map(str, whole))}", unit.quote(call.lineno))
    return [Parameter(f"{name}.{at}", shape, place) for at, shape in enumerate(shapes(*whole))]


def _targets(tree: ast.AST) -> dict[int, str]:
    """The name that a call is assigned to: `self.encoder = nn.LSTM(...)`."""
    found: dict[int, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            name = name_of(node.targets[0]).removeprefix("self.")
            for inner in ast.walk(node.value):
                if isinstance(inner, ast.Call):
                    found.setdefault(id(inner), name)
    return found


def _size(node: ast.expr | None, known: Mapping[str, int]) -> int | None:
    if isinstance(node, ast.Constant):
        return node.value if _is_size(node.value) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = _size(node.left, known), _size(node.right, known)
        return left * right if left is not None and right is not None and left * right < MOST else None
    name = name_of(node).rpartition(".")[2] if node is not None else ""
    return known.get(name)


def _is_size(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 32
