"""The layer behind an error about shapes: the constructor whose sizes are those that the message names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite_code
from traindx.detectors.errors.root import Reading
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.model import Setting

SIGNALS = {"layer-behind-shapes": "the layer whose sizes an error about shapes names"}


@dataclass(frozen=True)
class _Wanted:
    """Layers of a kind, the sizes they were built with, and what reached them instead."""

    kinds: frozenset[str]
    sizes: tuple[int, ...]
    expects: str
    gets: str


_LINEAR = frozenset({"Linear", "LazyLinear", "Dense"})
_CONV = frozenset({"Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"})
_RECURRENT = frozenset({"LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell"})
_NORM = frozenset({"BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LayerNorm", "InstanceNorm2d", "GroupNorm"})
_PRODUCT = re.compile(r"cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)")
_CHANNELS = re.compile(
    r"weight of size \[(\d+), (\d+)(?:, \d+)+\], expected input\S* .{0,60}to have (\d+) channels, but got (\d+)"
)
_FEATURES = re.compile(r"input\.size\(-1\) must be equal to input_size\. Expected (\d+), got (\d+)")
_NORMALISED = re.compile(r"normalized_shape=\[(\d+)\].{0,80}but got input of size\s?\[(?:\d+, )*(\d+)\]")
MOST_RESHAPES = 2
_ROWS = re.compile(
    r"Expected input batch_size \((\d+)\) to match target batch_size \((\d+)\)"
    r"|Expected input batch_size \((\d+)\) to match target"
    r"|logits and labels must have the same first dimension, got logits shape \[(\d+),\d+\] and labels shape \[(\d+)\]"
    r"|inconsistent numbers of samples: \[(\d+), (\d+)\]"
)
_STATISTICS = re.compile(r"running_mean should contain (\d+) elements not (\d+)")


def detect(cause: Reading, program: Sequence[CodeUnit], settings: Sequence[Setting]) -> list[Signal]:
    """Where the program builds the layer; where several have its sizes, the only one in the frames' files."""
    wanted = _wanted(cause.row.text)
    if wanted is None:
        return _rows_made_anew(cause.row.text, program)
    values = {row.key.rsplit(".", 1)[-1]: row.value for row in settings if type(row.value) is int}
    found = [
        (unit, call) for unit in program for call in _calls(unit.tree, wanted.kinds) if _fits(call, wanted, values)
    ]
    if len(found) > 1:
        named = {frame.rsplit("/", 1)[-1] for frame, _ in cause.row.frames}
        found = [row for row in found if row[0].path.rsplit("/", 1)[-1] in named] or found
    if not found:
        return []
    unit, call = found[0]
    layer = ast.unparse(call)[:80]
    claim = f"`{layer}` expects {wanted.expects}, and gets {wanted.gets}"
    place = cite_code(unit, call.lineno, claim)
    facts: dict[str, Fact] = {
        "layer": layer,
        "layer_place": unit.place(call.lineno),
        "layer_expects": wanted.expects,
        "layer_gets": wanted.gets,
        "layers_alike": len(found),
    }
    return [Signal(id="layer-behind-shapes", claim=claim, citations=[place], facts=facts)]


def _rows_made_anew(text: str, program: Sequence[CodeUnit]) -> list[Signal]:
    """Where outputs and targets differ in number: the lines that let the number of rows come out as it will."""
    found = _ROWS.search(text)
    if found is None:
        return []
    outputs, targets = [*filter(None, found.groups()), "other"][:2]
    places = [
        cite_code(unit, node.lineno, "the number of rows is left open here")
        for unit in program
        for node in ast.walk(unit.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"view", "reshape"}
        and node.args
        and len(node.args) > 1
        and _is_open(node.args[0])
    ]
    if not places:
        return []
    claim = f"{outputs} outputs for {targets} targets, and `{places[0].quote}` leaves the number of rows open"
    facts: dict[str, Fact] = {"rows_place": f"{places[0].source}:{places[0].locator.removeprefix('line ')}"}
    return [Signal(id="layer-behind-shapes", claim=claim, citations=places[:MOST_RESHAPES], facts=facts)]


def _is_open(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and getattr(node.operand, "value", 0) == 1


def _wanted(text: str) -> _Wanted | None:
    if found := _PRODUCT.search(text):
        _, got, wants, out = map(int, found.groups())
        return _Wanted(_LINEAR, (wants, out), f"{wants} features", f"{got}")
    if found := _CHANNELS.search(text):
        out, wants, _, got = map(int, found.groups())
        return _Wanted(_CONV, (wants, out), f"{wants} channels", f"{got}")
    if found := _FEATURES.search(text):
        wants, got = map(int, found.groups())
        return _Wanted(_RECURRENT, (wants,), f"{wants} features", f"{got}")
    if found := _NORMALISED.search(text):
        wants, got = map(int, found.groups())
        return _Wanted(_NORM, (wants,), f"{wants} features", f"{got}")
    if found := _STATISTICS.search(text):
        got, wants = map(int, found.groups())
        return _Wanted(_NORM, (wants,), f"{wants} channels", f"{got}")
    return None


def _calls(tree: ast.Module, kinds: frozenset[str]) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in kinds:
                yield node


def _fits(call: ast.Call, wanted: _Wanted, values: Mapping[str, Fact]) -> bool:
    """Whether the first arguments of a constructor may be the sizes, and one of them surely is."""
    given: list[ast.expr] = list(call.args[: len(wanted.sizes)])
    given += [word.value for word in call.keywords if word.arg and word.arg.startswith(("in_", "out_", "input_size"))]
    if len(given) < len(wanted.sizes):
        return False
    known = [_size(one, values) for one in given[: len(wanted.sizes)]]
    agree = [size == number for size, number in zip(known, wanted.sizes, strict=True) if size is not None]
    return bool(agree) and all(agree)


def _size(node: ast.expr, values: Mapping[str, Fact]) -> int | None:
    """The number that an argument is: a literal, a product of such, or a setting of that name."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = _size(node.left, values), _size(node.right, values)
        return left * right if left is not None and right is not None else None
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    value = values.get(name)
    return value if type(value) is int else None
